import type { ProductPatch } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { StoredProduct } from '../outbox/model.ts'
import { applyPass } from './apply-pass.ts'
import type { ApplyOptions } from './apply-records.ts'
import { patchesOfKnown } from './key-matches.ts'
import { planAnnounced } from './plan-announced.ts'
import { planChunk } from './plan-chunk.ts'
import { ImportProgress } from './progress.ts'
import { ProblemCollector } from './report.ts'
import { emptyTally, type Tally } from './tally.ts'

/**
 * What applying a file would change in each lane, now and at the times that it announces; nothing is changed or
 * reported. A product counts once in a lane.
 */
export async function countChanges(options: ApplyOptions): Promise<Tally> {
  const { context, accept, file } = options
  const { feed, ranks, catalog, writer, clock } = context
  const tally = emptyTally()
  const count = (patches: readonly ProductPatch[], stored: ReadonlyMap<ProductId, StoredProduct>) => {
    const steps = patches.map((patch) => ({ patch }))
    const planning = { stored, feed: feed.name, ranks, urgent: catalog.urgent }
    const changes = [...planChunk({ steps, ...planning }).changes, ...planAnnounced(patches, planning)]
    for (const lane of ['urgent', 'new', 'deferred'] as const) {
      const changed = changes.filter((change) => change.lane === lane).map(({ productId }) => productId)
      tally[lane] += new Set(changed).size
    }
  }
  const progress = new ImportProgress({ ...accept, bytes: file.source.bytes }, clock)
  progress.update({ phase: 'comparing' })
  const { key } = feed
  await applyPass(
    { ...options, progress, problems: new ProblemCollector(), rejects: { write: async () => undefined } },
    {
      apply: async ({ items, progressJson }) => {
        const patches = items.map(({ item }) => item)
        const values = patches.map(({ productId }) => productId)
        const plan = (stored: ReadonlyMap<ProductId, StoredProduct>, known = patches) => {
          count(known, stored)
          if (progressJson === undefined) return undefined
          return { writes: [], progress: { feed: feed.name, value: progressJson } }
        }
        if (key === undefined) await writer.update(values, (stored) => plan(stored))
        else
          await writer.updateByKey({ field: key, values }, (stored, products) =>
            // A product that is not known changes nothing.
            plan(stored, patchesOfKnown(patches, products)),
          )
      },
    },
  )
  return tally
}
