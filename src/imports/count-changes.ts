import type { ProductPatch } from '../catalog/model.ts'
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
  const { feed, rules, mirror, clock } = context
  const tally = emptyTally()
  const count = (patches: readonly ProductPatch[]) => {
    const stored = mirror.read(patches.map(({ productId }) => productId))
    const steps = patches.map((patch) => ({ patch }))
    const planning = { stored, feed: feed.name, ...rules }
    const changes = [...planChunk({ steps, ...planning }).changes, ...planAnnounced(patches, planning)]
    for (const lane of ['urgent', 'new', 'deferred'] as const) {
      const changed = changes.filter((change) => change.lane === lane).map(({ productId }) => productId)
      tally[lane] += new Set(changed).size
    }
  }
  const progress = new ImportProgress({ ...accept, bytes: file.source.bytes }, clock)
  progress.update({ phase: 'comparing' })
  const { key } = feed
  // A product that is not known changes nothing.
  const lookUp = (patches: readonly ProductPatch[], field: string) =>
    mirror.lookUp({ field, values: [...new Set(patches.map(({ productId }) => productId))] })
  await applyPass(
    { ...options, progress, problems: new ProblemCollector(), rejects: { write: async () => undefined } },
    {
      apply: async ({ items, progressJson: value }) => {
        const patches = items.map(({ item }) => item)
        count(key === undefined ? patches : patchesOfKnown(patches, lookUp(patches, key)))
        if (value !== undefined)
          await mirror.update([], () => ({ writes: [], progress: { feed: feed.name, value } }))
      },
    },
  )
  return tally
}
