import type { BoundMapping } from '../catalog/mapping.ts'
import type { ProductPatch } from '../catalog/model.ts'
import type { Judgement } from '../records/judge.ts'
import { readRecords } from '../records/read-records.ts'
import type { RejectsWriter } from '../records/rejects-writer.ts'
import type { AcceptLine } from '../sources/model.ts'
import type { FeedContext } from './context.ts'
import type { ImportTurn } from './import-turns.ts'
import { planChunk } from './plan-chunk.ts'
import type { ImportProgress } from './progress.ts'
import type { ProblemCollector } from './report.ts'

export interface ApplyOptions {
  context: FeedContext
  accept: AcceptLine
  path: string
  bytes: number
  judgement: Judgement
  mapping: BoundMapping
  rejects: RejectsWriter
  problems: ProblemCollector
  turn: ImportTurn
  progress: ImportProgress
  /** The feed has removals that wait for approval: naming a product takes it out of them. */
  hasHeld: boolean
}

/** Counted anew by each pass over the file, unlike changes, of which a repeated pass finds only the rest. */
export interface Applied {
  /** Records that were applied and changed nothing. */
  unchanged: number
  /** Records that a later one with the same id replaces. */
  superseded: number
  /** Products that miss required fields. */
  incomplete: number
}

/** The second pass: each batch of records is one transaction. Safe to repeat from the first record. */
export async function applyRecords(options: ApplyOptions): Promise<Applied> {
  const { context, accept, path, bytes, judgement } = options
  const { name } = accept
  const { dialect, columns } = judgement
  const { recordBytes } = context.feed.format
  const source = { path, name, bytes, dialect, columns, recordBytes, signal: context.signal }
  const applied: Applied = { unchanged: 0, superseded: 0, incomplete: 0 }
  // One transaction is under way while the next batch is parsed and mapped.
  let running: Promise<void> = Promise.resolve()
  try {
    for await (const batch of readRecords(source)) {
      const patches: ProductPatch[] = []
      for (const rejected of batch.rejected) {
        options.problems.add(rejected.issues)
        await options.rejects.write(rejected)
      }
      for (const record of batch.records) {
        const { patch, issues } = options.mapping.map(record)
        if (patch && !judgement.ids.isLast(patch.productId, record.record)) {
          applied.superseded += 1
          continue
        }
        options.problems.add(issues)
        if (patch) patches.push(patch)
        else await options.rejects.write({ ...record, issues })
      }
      await running
      context.work.advance()
      const progressJson = options.progress.update({
        bytesRead: batch.bytesRead,
        records: batch.records.length,
      })
      running = applyBatch({ ...options, patches, progressJson, applied })
      running.catch(() => undefined)
      await options.turn.take()
    }
  } finally {
    // Even when reading failed: no transaction is left running behind the caller's back.
    await running
  }
  return applied
}

interface Batch extends ApplyOptions {
  patches: readonly ProductPatch[]
  /** JSON, when it is time to write it down. */
  progressJson: string | undefined
  applied: Applied
}

async function applyBatch(batch: Batch): Promise<void> {
  const { context, accept, patches, applied } = batch
  const { feed, ranks, catalog, writer } = context
  const ids = patches.map((patch) => patch.productId)
  let offered = false
  await writer.update(ids, (stored) => {
    const steps = patches.map((patch) => ({ patch }))
    const plan = planChunk({ steps, stored, feed: feed.name, ranks, urgent: catalog.urgent })
    offered = plan.changes.length > 0 || accept.resend === true
    applied.unchanged += patches.length - plan.writes.length
    applied.incomplete += plan.tally.incomplete
    return {
      writes: plan.writes,
      counts: { sequence: accept.sequence, add: { ...plan.tally, incomplete: 0 } },
      ...(accept.resend ? { echoes: ids } : {}),
      ...(batch.hasHeld ? { heldIds: { feed: feed.name, remove: ids } } : {}),
      ...(batch.progressJson === undefined
        ? {}
        : { progress: { feed: feed.name, value: batch.progressJson } }),
    }
  })
  if (offered) context.onOffered()
}
