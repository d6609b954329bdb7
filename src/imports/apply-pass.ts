import type { RejectsWriter } from '../records/rejects-writer.ts'
import type { StepContext } from './context.ts'
import type { Applied, ImportRun } from './import-run.ts'
import { type FeedFile, type ReadItem, readFeedFile } from './open-feed-file.ts'
import { OverriddenRecords } from './record-fates.ts'

export interface PassOptions<Item>
  extends Pick<ImportRun<StepContext>, 'context' | 'problems' | 'turn' | 'progress'> {
  file: FeedFile<Item>
  rejects: Pick<RejectsWriter, 'write'>
}

export interface BatchOf<Item> {
  items: readonly ReadItem<Item>[]
  /** JSON, when it is time to write it down. */
  progressJson: string | undefined
  applied: Applied
}

interface Steps<Item> {
  /** One transaction. */
  apply(batch: BatchOf<Item>): Promise<void>
  /** Between two transactions, while nothing else of the pass is under way. */
  settle?(applied: Applied): Promise<void>
  leavesWarnings?: boolean
}

/** The second pass: each batch of records is one transaction. Safe to repeat from the first record. */
export async function applyPass<Item>(
  { context, file, rejects, problems, turn, progress }: PassOptions<Item>,
  { apply, settle, leavesWarnings = false }: Steps<Item>,
): Promise<Applied> {
  const { clock, work } = context
  const applied: Applied = { unchanged: 0, superseded: 0, incomplete: 0, overridden: new OverriddenRecords() }
  // One transaction is under way while the next batch is parsed and mapped.
  let running: Promise<void> = Promise.resolve()
  try {
    const reading = { now: () => clock.now(), problems, leavesWarnings, onMoved: () => work.advance() }
    for await (const { items, superseded, rejected, records, bytesRead } of readFeedFile(file, reading)) {
      applied.superseded += superseded.length
      for (const row of rejected) await rejects.write(row)
      await running
      await settle?.(applied)
      work.advance()
      const progressJson = progress.update({ bytesRead, records })
      running = apply({ items, progressJson, applied })
      running.catch(() => undefined)
      await turn.take()
    }
  } finally {
    // Even when reading failed: no transaction is left running behind the caller's back.
    await running
  }
  return applied
}
