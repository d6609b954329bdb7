import { type ProductField, requiredFields } from '../api/contract/product.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import { isJsonObject } from '../records/look-up.ts'
import { decodeLater, encodeLater } from './later.ts'
import type { ProductDocument, ProductPatch, ProductState } from './model.ts'
import { inContractOrder, noFields, skuFields, variationFields } from './wire-order.ts'

/** What is stored of a product. Parts that are undefined are removed from the store. */
export interface StoredForm {
  /** The wire document; only of complete products. */
  document: Buffer | undefined
  /**
   * JSON of what the wire document does not hold: all fields of an incomplete product, else those that a missing mark
   * changes; and what feeds have announced for later, under a key that is no field's name.
   */
  partial: Buffer | undefined
  /** Feeds, writers and marks. */
  meta: string
  /** Names of the required fields that are missing, comma-separated. */
  incomplete: string | undefined
}

const laterKey = '@later'

type StoredFields = Partial<Record<ProductField | typeof laterKey, unknown>>

/** What meta says about one feed. */
type Standing = 'named' | 'missing' | 'gone'

/**
 * Places of the fields in the bit masks of `meta`. Stored masks outlive a release, so the order is fixed here and not
 * the contract's: new fields go to the end, no place is ever used again.
 */
export const metaFields: readonly ProductField[] = [
  'name',
  'url',
  'image_url',
  'availability',
  'price',
  'price_currency_code',
  'list_price',
  'rating_value',
  'review_count',
  'categories',
  'categoryIds',
  'parentCategoryIds',
  'description',
  'brand',
  'tag1',
  'tag2',
  'tag3',
  'date_published',
  'variation_id',
  'alternate_image_urls',
  'variations',
  'inventory_level',
  'supplier_cost',
  'custom_fields',
  'skus',
]

// A feed that wrote fields and neither names the product nor misses it: only after a change of configuration.
const marks: Readonly<Record<Standing, string>> = { named: '=', missing: '!', gone: '?' }
const entryForm = /^([^=!?]+)([=!?])([0-9a-z]*)$/

/** `composed` is the document of the same state. */
export function storedForm(state: ProductState, composed: ComposedDocument): StoredForm {
  const meta = encodeMeta(state)
  if (composed.kind === 'incomplete') {
    const partial = encodePartial(state.fields, state)
    return { document: undefined, partial, meta, incomplete: composed.missing.join(',') }
  }
  const unmarked = unmarkedFields(state)
  const isWhole = unmarked === undefined && state.later === undefined
  const partial = isWhole ? undefined : encodePartial(unmarked ?? {}, state)
  return { document: composed.bytes, partial, meta, incomplete: undefined }
}

/**
 * The same where the patch alone says what the product is, without making a state of it. The patch announces nothing and
 * keeps no entries.
 */
export function storedFormOfPatch(
  { set, meta }: { set: ProductPatch['set']; meta: string },
  composed: ComposedDocument,
): StoredForm {
  if (composed.kind === 'complete') {
    return { document: composed.bytes, partial: undefined, meta, incomplete: undefined }
  }
  const partial = Buffer.from(JSON.stringify({ ...noFields, ...set }))
  return { document: undefined, partial, meta, incomplete: composed.missing.join(',') }
}

/** What is stored of a product of which this feed alone has spoken, and of these fields. */
export function encodeMetaOfPatch(patch: Pick<ProductPatch, 'set' | 'clear'>, feed: FeedName): string {
  return encodeEntry({ feed, standing: 'named', mask: maskOfPatch(patch) })
}

/** The fields that it sets or clears. */
export function maskOfPatch({ set, clear }: Pick<ProductPatch, 'set' | 'clear'>): number {
  return maskWhere((field) => set[field] !== undefined || (clear.length > 0 && clear.includes(field)))
}

export function maskWhere(isMeant: (field: ProductField) => boolean): number {
  let mask = 0
  for (let place = 0; place < metaFields.length; place++) {
    if (isMeant(metaFields[place] as ProductField)) mask |= 1 << place
  }
  return mask
}

/** Undefined where a missing mark changes none. */
function unmarkedFields({ fields, missingFrom }: ProductState): ProductState['fields'] | undefined {
  if (missingFrom.size === 0) return undefined
  const changed = Object.keys(outOfStock(fields)) as ProductField[]
  if (changed.length === 0) return undefined
  return Object.fromEntries(changed.map((field) => [field, fields[field]]))
}

function encodePartial(fields: ProductState['fields'], { later }: ProductState): Buffer {
  return Buffer.from(JSON.stringify(later ? { ...fields, [laterKey]: encodeLater(later) } : fields))
}

export interface StoredParts {
  document: Buffer | undefined
  partial: Buffer | undefined
  meta: string
}

export function decodeState({ document, partial, meta }: StoredParts): ProductState {
  const stored: StoredFields = {
    ...(document && parseFields(document)),
    ...(partial && parseFields(partial)),
  }
  const fields: ProductState['fields'] = { ...noFields }
  for (const field of metaFields) {
    const value = stored[field]
    if (value !== undefined) fields[field] = value
  }
  return { fields, ...decodeMeta(meta), ...decodeLater(stored[laterKey]) }
}

/** Who wrote which field, and which feeds name the product or miss it. */
export function decodeMeta(meta: string): Pick<ProductState, 'writers' | 'feeds' | 'missingFrom'> {
  const writers: ProductState['writers'] = { ...noFields }
  const entries = parseMeta(meta)
  for (const { mask, feed } of entries) {
    for (let place = 0; mask >>> place !== 0; place++) {
      if ((mask & (1 << place)) !== 0) writers[metaFields[place] as ProductField] ??= feed
    }
  }
  return { writers, ...standings(entries) }
}

/**
 * One entry per feed, sorted by name and separated by blanks: name, standing, base-36 mask of the fields it wrote.
 * An ordinary product of one feed takes about 15 bytes (`products=2rvxtz`).
 */
export function encodeMeta({ writers, feeds, missingFrom }: ProductState): string {
  const masks = new Map<FeedName, number>()
  for (const feed of feeds) masks.set(feed, 0)
  for (const feed of missingFrom) masks.set(feed, 0)
  for (let place = 0; place < metaFields.length; place++) {
    const feed = writers[metaFields[place] as ProductField]
    if (feed !== undefined) masks.set(feed, (masks.get(feed) ?? 0) | (1 << place))
  }
  return [...masks]
    .map(([feed, mask]) => {
      const standing = missingFrom.has(feed) ? 'missing' : feeds.has(feed) ? 'named' : 'gone'
      return encodeEntry({ feed, standing, mask })
    })
    .sort()
    .join(' ')
}

/** Only the feeds, for passes over all products. */
export function feedsOf(meta: string): Pick<ProductState, 'feeds' | 'missingFrom'> {
  return standings(parseMeta(meta))
}

interface MetaEntry {
  feed: FeedName
  standing: Standing
  mask: number
}

function parseMeta(meta: string): MetaEntry[] {
  if (meta === '') return []
  return meta.split(' ').map((text) => {
    const [, name = '', mark, mask = ''] = entryForm.exec(text) ?? []
    const standing = mark === marks.named ? 'named' : mark === marks.missing ? 'missing' : 'gone'
    // Ours alone writes meta: anything else under its key is a defect, and guessing would corrupt products.
    if (name === '') throw new Error(`stored meta cannot be read: ${meta.slice(0, 80)}`)
    return {
      feed: decodeURIComponent(name) as FeedName,
      standing,
      mask: mask === '' ? 0 : Number.parseInt(mask, 36),
    }
  })
}

function standings(entries: readonly MetaEntry[]): Pick<ProductState, 'feeds' | 'missingFrom'> {
  const feeds = new Set<FeedName>()
  const missingFrom = new Set<FeedName>()
  for (const { feed, standing } of entries) {
    if (standing === 'named') feeds.add(feed)
    else if (standing === 'missing') missingFrom.add(feed)
  }
  return { feeds, missingFrom }
}

/** Leaves ordinary names as they are; blanks and the marks are escaped. */
function encodeEntry({ feed, standing, mask }: MetaEntry): string {
  const name = encodeURIComponent(feed).replaceAll('!', '%21')
  return name + marks[standing] + (mask === 0 ? '' : mask.toString(36))
}

function parseFields(bytes: Buffer): StoredFields {
  return JSON.parse(bytes.toString('utf8')) as StoredFields
}

export type ComposedDocument =
  | { kind: 'complete'; bytes: Buffer; document: ProductDocument }
  /** Required fields that no feed has brought yet: the product is not sent. */
  | { kind: 'incomplete'; missing: readonly ProductField[] }

/**
 * The wire document of a product: the same state gives the same bytes on every host. While a feed no longer names the
 * product, it is out of stock everywhere, whoever writes availability.
 */
export function composeDocument(
  { fields, missingFrom }: Pick<ProductState, 'fields'> & Partial<ProductState>,
  productId: ProductId,
): ComposedDocument {
  const isMissing = (field: ProductField) => field !== 'product_id' && fields[field] === undefined
  if (requiredFields.some(isMissing)) return { kind: 'incomplete', missing: requiredFields.filter(isMissing) }
  const document = { ...noFields, ...fields, product_id: productId }
  if (missingFrom && missingFrom.size > 0) Object.assign(document, outOfStock(fields))
  return { kind: 'complete', bytes: Buffer.from(JSON.stringify(document)), document }
}

/** The fields of a product with a missing mark as they go out; only those that the mark changes. */
function outOfStock(fields: ProductState['fields']): ProductState['fields'] {
  const marked: ProductState['fields'] = {}
  if (fields.availability !== 'OutOfStock') marked.availability = 'OutOfStock'
  if (Array.isArray(fields.skus) && fields.skus.some(isInStock)) {
    marked.skus = fields.skus.map((sku) => withoutStock(sku, skuFields))
  }
  if (isJsonObject(fields.variations) && Object.values(fields.variations).some(isInStock)) {
    const variations = Object.entries(fields.variations)
    marked.variations = Object.fromEntries(
      variations.map(([key, value]) => [key, withoutStock(value, variationFields)]),
    )
  }
  return marked
}

function isInStock(member: unknown): boolean {
  return isJsonObject(member) && member.availability !== 'OutOfStock'
}

function withoutStock(member: unknown, order: readonly string[]): unknown {
  return isJsonObject(member) ? inContractOrder({ ...member, availability: 'OutOfStock' }, order) : member
}
