import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Recommendation, recommendationsMax } from '../api/contract/intent.ts'
import { isObject } from '../api/contract/json-value.ts'
import type { IntentClient } from '../api/intent-client.ts'
import type { ProductId } from '../lib/brand.ts'
import type { MirrorReader } from '../mirror/reader.ts'

/** What the service answers for a product, held against what we would send. */
export type Verified =
  | { productId: string; outcome: 'unknown' | 'incomplete' }
  | ({ productId: string; prompt: string; pending: boolean } & (
      | { outcome: 'matches' }
      | { outcome: 'differs'; differences: FieldDifference[] }
      | { outcome: 'not-returned'; returned: number; availability: unknown }
    ))

export interface VerifyOptions {
  client: IntentClient
  mirror: MirrorReader
  partnerId: string
  signal: AbortSignal
}

/**
 * Asks for each product by name and brand, one after the other, each as a shopper of its own in a conversation of its
 * own, so that no answer depends on another.
 */
export async function* verifyProducts(
  ids: readonly string[],
  options: VerifyOptions,
): AsyncGenerator<Verified, void, undefined> {
  for (const productId of new Set(ids)) {
    options.signal.throwIfAborted()
    yield await verifyProduct(productId, options)
  }
}

async function verifyProduct(productId: string, options: VerifyOptions): Promise<Verified> {
  const { client, partnerId, signal } = options
  const known = readKnown(productId as ProductId, options)
  if (typeof known === 'string') return { productId, outcome: known }
  const { document, pending } = known
  const prompt = promptFor(document)
  const response = await client.ask(
    {
      prompt,
      partnerId,
      customerId: `verify-${randomUUID()}`,
      chatId: randomUUID(),
      rankingOnly: true,
      maxAgentRecommendations: recommendationsMax,
    },
    { signal },
  )
  const returned = response.agentProductRecommendations ?? []
  const theirs = returned.find((product) => String(product.productId) === productId)
  const asked = { productId, prompt, pending }
  if (theirs === undefined) {
    return {
      ...asked,
      outcome: 'not-returned',
      returned: returned.length,
      availability: document.availability,
    }
  }
  const differences = compareProduct(document, theirs)
  return differences.length === 0
    ? { ...asked, outcome: 'matches' }
    : { ...asked, outcome: 'differs', differences }
}

interface Known {
  document: Readonly<Record<string, unknown>>
  /** The newest document is not acknowledged yet: a difference is to be expected. */
  pending: boolean
}

function readKnown(id: ProductId, { mirror }: VerifyOptions): Known | 'unknown' | 'incomplete' {
  const { meta, document } = mirror.read([id]).get(id) ?? {}
  if (document === undefined) return meta === undefined ? 'unknown' : 'incomplete'
  return { document: JSON.parse(document.toString('utf8')), pending: mirror.isUnsent(id) }
}

/** The brand only where the name does not say it. */
function promptFor({ name, brand }: Known['document']): string {
  const [title, maker] = [textOf(name), textOf(brand)]
  return title.toLowerCase().includes(maker.toLowerCase()) ? title : `${title} ${maker}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

type Fields = Readonly<Record<string, unknown>>

interface FieldDifference {
  /** As we send it; `skus[ID].availability` inside a SKU. */
  field: string
  /** Null: none. */
  ours: unknown
  theirs: unknown
}

type IsSame = (ours: unknown, theirs: unknown) => boolean

/** What a response says of a product. The supplier's cost is not among it, and is never looked at. */
const compared: Readonly<Record<string, IsSame>> = {
  name: isSameText,
  url: isSameUrl,
  image_url: isSameUrl,
  brand: isSameText,
  availability: isSameAvailability,
  price: isSameNumber,
  list_price: isSameNumber,
  price_currency_code: isSameText,
  rating_value: isSameNumber,
  review_count: isSameNumber,
  inventory_level: isSameNumber,
}
const comparedOfSkus = { name: isSameText, availability: isSameAvailability, inventory_level: isSameNumber }

/** Names under which the response has a field; the first that is there counts. */
function namesOf(field: string): string[] {
  const name = field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return field === 'price_currency_code' ? [name, 'currencyCode'] : [name]
}

/** Only fields that the response has are compared; null there means that the service has no value. Pure. */
export function compareProduct(document: Fields, theirs: Recommendation): FieldDifference[] {
  // Services give the price as list price, and 0 as rating, where they were told none.
  const filledIn = (field: string, value: unknown) =>
    document[field] === undefined &&
    ((field === 'list_price' && isSameNumber(document.price, value)) ||
      ((field === 'rating_value' || field === 'review_count') && value === 0))
  const differences = compareFields(compared, document, theirs).filter(
    ({ field, theirs: value }) => !filledIn(field, value),
  )
  return theirs.skus === undefined
    ? differences
    : [...differences, ...compareSkus(document.skus, theirs.skus ?? [])]
}

function compareFields(
  fields: Readonly<Record<string, IsSame>>,
  document: Fields,
  theirs: Fields,
): FieldDifference[] {
  return Object.entries(fields).flatMap(([field, same]) => {
    const given = namesOf(field)
      .map((name) => theirs[name])
      .filter((value) => value !== undefined)
    const [value] = [...given.filter((one) => one !== null), ...given]
    const ours = document[field]
    if (value === undefined || (isNothing(ours) && isNothing(value))) return []
    if (!isNothing(ours) && !isNothing(value) && same(ours, value)) return []
    return [{ field, ours: ours ?? null, theirs: value }]
  })
}

function compareSkus(ours: unknown, theirs: readonly Fields[]): FieldDifference[] {
  const own = new Map(skusById(ours))
  const others = new Map(skusById(theirs))
  const differences = [...own].flatMap(([id, sku]): FieldDifference[] => {
    const other = others.get(id)
    if (other === undefined) return [{ field: `skus[${id}]`, ours: sku, theirs: null }]
    return compareFields(comparedOfSkus, sku, other).map(({ field, ...values }) => ({
      field: `skus[${id}].${field}`,
      ...values,
    }))
  })
  const added = [...others].filter(([id]) => !own.has(id))
  return [...differences, ...added.map(([id, sku]) => ({ field: `skus[${id}]`, ours: null, theirs: sku }))]
}

/** A SKU without an id cannot be found in the response. */
function skusById(skus: unknown): [string, Fields][] {
  if (!Array.isArray(skus)) return []
  return skus.filter(isObject).flatMap((sku): [string, Fields][] => {
    return isNothing(sku.id) ? [] : [[String(sku.id), sku]]
  })
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function isSameText(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) || String(one).trim() === String(other).trim()
}

function isSameNumber(one: unknown, other: unknown): boolean {
  return isSameText(one, other) || Number(one) === Number(other)
}

/** `InStock`, `in stock` and `https://schema.org/InStock` say the same. */
function isSameAvailability(one: unknown, other: unknown): boolean {
  const plain = (value: unknown) =>
    String(value)
      .replace(/^https?:\/\/schema\.org\//i, '')
      .replaceAll(/[\s_-]/g, '')
      .toLowerCase()
  return plain(one) === plain(other)
}

/** However the parts are escaped. */
function isSameUrl(one: unknown, other: unknown): boolean {
  if (isSameText(one, other)) return true
  const [ours, theirs] = [String(one), String(other)]
  return URL.canParse(ours) && URL.canParse(theirs) && new URL(ours).href === new URL(theirs).href
}
