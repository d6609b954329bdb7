import type { ProductPatch } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { MirrorChunk, StoredProduct } from '../mirror/model.ts'
import type { AcceptLine } from '../sources/model.ts'
import { applyPass, type BatchOf, type PassOptions } from './apply-pass.ts'
import type { FeedContext } from './context.ts'
import type { Applied } from './import-run.ts'
import { planChunk } from './plan-chunk.ts'

export interface ApplyOptions extends PassOptions<ProductPatch> {
  context: FeedContext
  accept: AcceptLine
  /** The feed has removals that wait for approval: naming a product takes it out of them. */
  hasHeld: boolean
}

/** The second pass over a file of products. */
export function applyRecords(options: ApplyOptions): Promise<Applied> {
  const { mirror } = options.context
  return applyPass(options, {
    apply: async ({ items, ...batch }) => {
      const patches = items.map(({ item }) => item)
      await mirror.update(
        patches.map(({ productId }) => productId),
        (stored) => planPatches(options, { ...batch, patches }, stored),
      )
    },
  })
}

type PatchBatch = Omit<BatchOf<ProductPatch>, 'items'> & { patches: readonly ProductPatch[] }

/** What the patches of a batch change, each of another product. */
export function planPatches(
  { context, accept, hasHeld }: ApplyOptions,
  { patches, progressJson, applied }: PatchBatch,
  stored: ReadonlyMap<ProductId, StoredProduct>,
): MirrorChunk {
  const { feed, rules } = context
  const ids = patches.map((patch) => patch.productId)
  const steps = patches.map((patch) => ({ patch }))
  const plan = planChunk({ steps, stored, feed: feed.name, ...rules })
  applied.unchanged += patches.length - plan.writes.length
  applied.incomplete += plan.tally.incomplete
  return {
    writes: plan.writes,
    counts: { claim: accept.claim, add: { ...plan.tally, incomplete: 0 } },
    ...(accept.resend ? { resend: ids } : {}),
    ...(hasHeld ? { heldIds: { feed: feed.name, remove: ids } } : {}),
    ...(progressJson === undefined ? {} : { progress: { feed: feed.name, value: progressJson } }),
  }
}
