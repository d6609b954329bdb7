import { composeDocument } from '../catalog/compose.ts'
import { diffDocuments } from '../catalog/diff.ts'
import { applyDue, encodeLater } from '../catalog/later.ts'
import { mergePatch } from '../catalog/merge.ts'
import type { Change, ProductPatch, ProductState } from '../catalog/model.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import type { StoredProduct } from '../mirror/model.ts'
import type { PlanRules } from './plan-chunk.ts'

interface Options extends PlanRules {
  stored: ReadonlyMap<ProductId, StoredProduct>
  feed: FeedName
}

/**
 * Pure: how products change at times to come that the patches newly announce, one change for each time at which one
 * does. What was announced before counts no more.
 */
export function planAnnounced(patches: readonly ProductPatch[], options: Options): Change[] {
  const { stored, feed, ranks } = options
  return patches.flatMap((patch) => {
    const times = patch.later?.map(({ at }) => at) ?? []
    if (times.length === 0) return []
    const { document, partial, meta } = stored.get(patch.productId) ?? {}
    const state = meta === undefined ? undefined : decodeState({ document, partial, meta })
    const next = mergePatch({ state, patch, feed, ranks })
    if (textOf(state) === textOf(next)) return []
    return changesAt(times, { ...options, next, productId: patch.productId })
  })
}

function changesAt(
  times: readonly number[],
  { next, productId, ranks, urgent }: Options & { next: ProductState; productId: ProductId },
): Change[] {
  const now = composeDocument(next, productId)
  if (now.kind === 'incomplete') return []
  return times.flatMap((nowMs) => {
    const then = composeDocument(applyDue(next, { nowMs, ranks }), productId)
    if (then.kind === 'incomplete') return []
    const documents = { before: now.document, after: then.document }
    return diffDocuments({ productId, ...documents, urgent, missing: false }) ?? []
  })
}

function textOf(state: ProductState | undefined): string {
  return JSON.stringify(encodeLater(state?.later ?? new Map()))
}
