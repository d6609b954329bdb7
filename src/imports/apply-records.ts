import type { BoundMapping } from '../catalog/mapping.ts'
import type { ProductPatch } from '../catalog/model.ts'
import { type Applied, applyPass, type BatchOf, type PassOptions } from './apply-pass.ts'
import { planChunk } from './plan-chunk.ts'

interface ApplyOptions extends PassOptions {
  mapping: BoundMapping
  /** The feed has removals that wait for approval: naming a product takes it out of them. */
  hasHeld: boolean
}

/** The second pass over a file of products. */
export function applyRecords(options: ApplyOptions): Promise<Applied> {
  return applyPass<ProductPatch>(options, {
    map: (record) => {
      const { patch, issues } = options.mapping.map(record)
      return { id: patch?.productId, item: patch, issues }
    },
    apply: (batch) => applyBatch(options, batch),
  })
}

async function applyBatch(
  { context, accept, hasHeld }: ApplyOptions,
  { items, progressJson, applied }: BatchOf<ProductPatch>,
): Promise<void> {
  const { feed, ranks, catalog, writer } = context
  const ids = items.map((patch) => patch.productId)
  let offered = false
  await writer.update(ids, (stored) => {
    const steps = items.map((patch) => ({ patch }))
    const plan = planChunk({ steps, stored, feed: feed.name, ranks, urgent: catalog.urgent })
    offered = plan.changes.length > 0 || accept.resend === true
    applied.unchanged += items.length - plan.writes.length
    applied.incomplete += plan.tally.incomplete
    return {
      writes: plan.writes,
      counts: { sequence: accept.sequence, add: { ...plan.tally, incomplete: 0 } },
      ...(accept.resend ? { echoes: ids } : {}),
      ...(hasHeld ? { heldIds: { feed: feed.name, remove: ids } } : {}),
      ...(progressJson === undefined ? {} : { progress: { feed: feed.name, value: progressJson } }),
    }
  })
  if (offered) context.onOffered()
}
