import { type ProductField, productFields } from '../api/contract/product.ts'
import type { FeedName } from '../lib/brand.ts'
import type { ProductPatch, ProductState } from './model.ts'
import type { FieldRanks } from './ranks.ts'
import { isJsonObject, sortedByKey } from './wire-order.ts'

type Merged = Pick<ProductState, 'fields' | 'writers'>

type SaidPatch = Pick<ProductPatch, 'set' | 'clear' | 'keepEntries'>

interface Said {
  patch: SaidPatch
  feed: FeedName
  ranks: FieldRanks
}

/**
 * The fields after one feed has spoken. A feed speaks of a field by setting or clearing it; it is heard unless a feed
 * of better rank has spoken before.
 */
export function mergeFields(known: Merged | undefined, { patch, feed, ranks }: Said): Merged {
  const fields: Merged['fields'] = {}
  const writers: Merged['writers'] = {}
  for (const field of productFields) {
    if (field === 'product_id') continue
    const before = known?.fields[field]
    const writer = known?.writers[field]
    const said = patch.set[field]
    const isHeard =
      (said !== undefined || patch.clear.includes(field)) &&
      (writer === undefined || writer === feed || ranks.rank(field, feed) < ranks.rank(field, writer))
    const value = isHeard ? heardValue(said, { known: before, patch, field, isOwn: writer === feed }) : before
    if (value !== undefined) fields[field] = value
    const next = isHeard ? feed : writer
    if (next !== undefined) writers[field] = next
  }
  return { fields, writers }
}

interface Before {
  known: unknown
  patch: SaidPatch
  field: ProductField
  /** The known value is the same feed's: only then may parts of it live on, or the order of feeds would matter. */
  isOwn: boolean
}

/** Entries about which the record says nothing stay; a map that has lost its last entry is cleared. */
function heardValue(said: unknown, { known, patch, field, isOwn }: Before): unknown {
  if (field !== 'custom_fields' || !patch.keepEntries || !isJsonObject(said)) return said
  const earlier = isOwn && isJsonObject(known) ? known : {}
  const kept = patch.keepEntries
    .filter((key) => Object.hasOwn(earlier, key))
    .map((key) => [key, earlier[key]] as const)
  const merged = { ...Object.fromEntries(kept), ...said }
  return Object.keys(merged).length === 0 ? undefined : sortedByKey(merged)
}
