import type { FeedName } from '../lib/brand.ts'
import { mergeLater } from './later.ts'
import type { ProductPatch, ProductState } from './model.ts'
import { type FieldRanks, mergeFields } from './ranks.ts'

interface MergeStep {
  state: ProductState | undefined
  patch: ProductPatch
  feed: FeedName
  ranks: FieldRanks
}

/**
 * What is known of a product after one record: its fields, what it announces for later, and that the feed names the
 * product, which lifts its missing mark. Marks of feeds that count missing products no longer go, too.
 */
export function mergePatch({ state, patch, feed, ranks }: MergeStep): ProductState {
  return {
    ...mergeFields(state, { patch, feed, ranks }),
    ...named(state, { feed, ranks }),
    ...mergeLater(state, { patch, feed }),
  }
}

/** A full file of the feed no longer names the product. */
export function markMissing(state: ProductState, feed: FeedName): ProductState {
  if (state.missingFrom.has(feed)) return state
  const feeds = new Set(state.feeds)
  feeds.delete(feed)
  return { ...state, feeds, missingFrom: new Set(state.missingFrom).add(feed) }
}

function named(
  state: ProductState | undefined,
  { feed, ranks }: Pick<MergeStep, 'feed' | 'ranks'>,
): Pick<ProductState, 'feeds' | 'missingFrom'> {
  if (!state) return { feeds: new Set([feed]), missingFrom: new Set() }
  const feeds = state.feeds.has(feed) ? state.feeds : new Set(state.feeds).add(feed)
  if (state.missingFrom.size === 0) return { feeds, missingFrom: state.missingFrom }
  const missingFrom = [...state.missingFrom].filter((name) => name !== feed && ranks.countsMissing(name))
  return { feeds, missingFrom: new Set(missingFrom) }
}
