import { type ProductField, productFields } from '../api/contract/product.ts'
import type { FeedName } from '../lib/brand.ts'
import { fieldEnd } from './differing-fields.ts'
import type { ProductPatch, ProductState } from './model.ts'
import { type FieldRanks, isDropped } from './ranks.ts'
import { decodeMeta } from './stored-form.ts'

/** What a product is after a record, where it differs in values of its document alone. */
export interface EditedDocument {
  bytes: Buffer
  /** As before; `fields` holds those alone that the record names and another feed writes. */
  next: Pick<ProductState, 'fields' | 'writers'>
}

interface Stored {
  document: Buffer | undefined
  partial: Buffer | undefined
  meta: string
}

interface Said {
  patch: ProductPatch
  feed: FeedName
  ranks: FieldRanks
}

const keys = new Map(productFields.map((field) => [field, Buffer.from(`${JSON.stringify(field)}:`)]))

/**
 * What merging the patch gives, in a third of the time: only the values that it sets are written anew, into the document as
 * it is stored. Undefined where more may change: the feed has not named the product before, or has not written such a field;
 * a field comes, goes or changes hands; something is marked missing or announced.
 */
export function editDocument({ document, partial, meta }: Stored, said: Said): EditedDocument | undefined {
  const { patch, feed } = said
  if (!document || partial || patch.later || patch.keepEntries || patch.clear.length > 0) return undefined
  const { writers, feeds, missingFrom } = decodeMeta(meta)
  if (missingFrom.size > 0 || !feeds.has(feed)) return undefined
  const fields: ProductState['fields'] = {}
  const parts: Buffer[] = []
  let [copied, start] = [0, 1]
  for (const field of productFields) {
    const [writer, value] = [writers[field], patch.set[field]]
    if (writer !== undefined && isDropped(field, said.ranks)) return undefined
    if (value === undefined || field === 'product_id') continue
    if (writer === undefined || isTakenOver(field, writer, said)) return undefined
    const found = findField(document, field, start)
    if (found === undefined) return undefined
    start = found.end + 1
    if (writer === feed) {
      parts.push(document.subarray(copied, found.value), Buffer.from(JSON.stringify(value)))
      copied = found.end
    } else fields[field] = JSON.parse(document.toString('utf8', found.value, found.end))
  }
  const bytes = Buffer.concat([...parts, document.subarray(copied)])
  return { bytes, next: { fields, writers } }
}

function isTakenOver(field: ProductField, writer: FeedName, { feed, ranks }: Said): boolean {
  return writer !== feed && ranks.rank(field, feed) < ranks.rank(field, writer)
}

/** From the field that begins at `from` on, in bytes. */
function findField(
  document: Buffer,
  field: ProductField,
  from: number,
): { value: number; end: number } | undefined {
  const key = keys.get(field) as Buffer
  for (let start = from; start < document.length; ) {
    const end = fieldEnd(document, start)
    const value = start + key.length
    if (value < end && document.compare(key, 0, key.length, start, value) === 0) return { value, end }
    start = end + 1
  }
}
