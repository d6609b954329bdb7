import type { ProductPatch } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { StoredProduct } from '../outbox/model.ts'
import type { WriterChunk } from '../outbox/write-chunk.ts'
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
  const { writer, onOffered } = options.context
  return applyPass(options, {
    apply: async ({ items, ...batch }) => {
      const patches = items.map(({ item }) => item)
      let offers = false
      await writer.update(
        patches.map(({ productId }) => productId),
        (stored) => {
          const plan = planPatches(options, { ...batch, patches }, stored)
          offers = plan.offers
          return plan.chunk
        },
      )
      if (offers) onOffered()
    },
  })
}

type PatchBatch = Omit<BatchOf<ProductPatch>, 'items'> & { patches: readonly ProductPatch[] }

/** What the patches of a batch change, each of another product, and whether anything is to be delivered then. */
export function planPatches(
  { context, accept, hasHeld }: ApplyOptions,
  { patches, progressJson, applied }: PatchBatch,
  stored: ReadonlyMap<ProductId, StoredProduct>,
): { chunk: WriterChunk; offers: boolean } {
  const { feed, ranks, catalog, keyFields } = context
  const ids = patches.map((patch) => patch.productId)
  const steps = patches.map((patch) => ({ patch }))
  const plan = planChunk({ steps, stored, feed: feed.name, ranks, urgent: catalog.urgent, keyFields })
  applied.unchanged += patches.length - plan.writes.length
  applied.incomplete += plan.tally.incomplete
  const chunk: WriterChunk = {
    writes: plan.writes,
    counts: { sequence: accept.sequence, add: { ...plan.tally, incomplete: 0 } },
    ...(accept.resend ? { echoes: ids } : {}),
    ...(hasHeld ? { heldIds: { feed: feed.name, remove: ids } } : {}),
    ...(progressJson === undefined ? {} : { progress: { feed: feed.name, value: progressJson } }),
  }
  return { chunk, offers: plan.changes.length > 0 || accept.resend === true }
}
