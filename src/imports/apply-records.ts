import type { BoundMapping } from '../catalog/mapping.ts'
import type { ProductPatch } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { MirrorChunk, StoredProduct } from '../mirror/model.ts'
import { type Applied, applyPass, type BatchOf, type PassOptions } from './apply-pass.ts'
import { planChunk } from './plan-chunk.ts'

export interface ApplyOptions extends PassOptions {
  mapping: BoundMapping
  /** The feed has removals that wait for approval: naming a product takes it out of them. */
  hasHeld: boolean
}

/** The second pass over a file of products. */
export function applyRecords(options: ApplyOptions): Promise<Applied> {
  return applyPass<ProductPatch>(options, {
    map: (record) => {
      const { patch, issues } = options.mapping.map(record, options.context.clock.now())
      return { id: patch?.productId, item: patch, issues }
    },
    apply: (batch) => applyBatch(options, batch),
  })
}

async function applyBatch(options: ApplyOptions, batch: BatchOf<ProductPatch>): Promise<void> {
  await options.context.mirror.update(
    batch.items.map((patch) => patch.productId),
    (stored) => planPatches(options, batch, stored),
  )
}

/** What the patches of a batch change, each of another product. */
export function planPatches(
  { context, accept, hasHeld }: ApplyOptions,
  { items, progressJson, applied }: BatchOf<ProductPatch>,
  stored: ReadonlyMap<ProductId, StoredProduct>,
): MirrorChunk {
  const { feed, rules } = context
  const ids = items.map((patch) => patch.productId)
  const steps = items.map((patch) => ({ patch }))
  const plan = planChunk({ steps, stored, feed: feed.name, ...rules })
  applied.unchanged += items.length - plan.writes.length
  applied.incomplete += plan.tally.incomplete
  return {
    writes: plan.writes,
    counts: { claim: accept.claim, add: { ...plan.tally, incomplete: 0 } },
    ...(accept.resend ? { resend: ids } : {}),
    ...(hasHeld ? { heldIds: { feed: feed.name, remove: ids } } : {}),
    ...(progressJson === undefined ? {} : { progress: { feed: feed.name, value: progressJson } }),
  }
}
