import { type ProductField, productFields } from '../api/contract/product.ts'
import type { FeedName } from '../lib/brand.ts'
import type { ProductPatch, ProductState } from './model.ts'
import type { FieldRanks } from './ranks.ts'
import { isJsonObject, sortedByKey } from './wire-order.ts'

interface MergeStep {
  state: ProductState | undefined
  patch: ProductPatch
  feed: FeedName
  ranks: FieldRanks
}

/**
 * What is known of a product after one record. A feed speaks of a field by setting or clearing it; it is heard unless a
 * feed of better rank has spoken before. Naming the product lifts the feed's missing mark.
 */
export function mergePatch({ state, patch, feed, ranks }: MergeStep): ProductState {
  const fields: Partial<Record<ProductField, unknown>> = {}
  const writers: Partial<Record<ProductField, FeedName>> = {}
  for (const field of productFields) {
    if (field === 'product_id') continue
    const known = state?.fields[field]
    const writer = state?.writers[field]
    const said = patch.set[field]
    const isHeard =
      (said !== undefined || patch.clear.includes(field)) &&
      (writer === undefined || writer === feed || ranks.rank(field, feed) < ranks.rank(field, writer))
    const value = isHeard ? heardValue(said, { known, patch, field, isOwn: writer === feed }) : known
    if (value !== undefined) fields[field] = value
    const next = isHeard ? feed : writer
    if (next !== undefined) writers[field] = next
  }
  return { fields, writers, ...named(state, feed) }
}

/** A full file of the feed no longer names the product. */
export function markMissing(state: ProductState, feed: FeedName): ProductState {
  if (state.missingFrom.has(feed)) return state
  const feeds = new Set(state.feeds)
  feeds.delete(feed)
  return { ...state, feeds, missingFrom: new Set(state.missingFrom).add(feed) }
}

function named(state: ProductState | undefined, feed: FeedName): Pick<ProductState, 'feeds' | 'missingFrom'> {
  if (!state) return { feeds: new Set([feed]), missingFrom: new Set() }
  if (state.feeds.has(feed)) return state.missingFrom.has(feed) ? without(state, feed) : pickNames(state)
  return without({ ...state, feeds: new Set(state.feeds).add(feed) }, feed)
}

function without(state: ProductState, feed: FeedName): Pick<ProductState, 'feeds' | 'missingFrom'> {
  const missingFrom = new Set(state.missingFrom)
  missingFrom.delete(feed)
  return { feeds: state.feeds, missingFrom }
}

function pickNames({ feeds, missingFrom }: ProductState): Pick<ProductState, 'feeds' | 'missingFrom'> {
  return { feeds, missingFrom }
}

interface Before {
  known: unknown
  patch: ProductPatch
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
