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
 * product, which lifts the feed's missing mark.
 */
export function mergePatch({ state, patch, feed, ranks }: MergeStep): ProductState {
  return {
    ...mergeFields(state, { patch, feed, ranks }),
    ...named(state, feed),
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
