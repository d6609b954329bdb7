import type { Judgement } from '../records/judge.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { originalRows } from '../records/original-rows.ts'
import { readGroupedRecords } from '../records/read-grouped-records.ts'
import type { RejectsWriter } from '../records/rejects-writer.ts'
import { type TransformStep, transformRecords } from '../records/transform-records.ts'
import type { AcceptLine } from '../sources/model.ts'
import { type FeedContext, spillDirOf } from './context.ts'
import type { ImportTurn } from './import-turns.ts'
import type { ImportProgress } from './progress.ts'
import type { ProblemCollector } from './report.ts'

export interface PassOptions {
  context: FeedContext
  accept: AcceptLine
  path: string
  bytes: number
  judgement: Judgement
  rejects: Pick<RejectsWriter, 'write'>
  problems: ProblemCollector
  /** Makes the records that are mapped of those that are read. */
  transform?: TransformStep | undefined
  turn: ImportTurn
  progress: ImportProgress
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

/** What a mapping makes of one record: an item to apply and its id, or the reasons why there is none. */
export interface MappedRecord<Item> {
  id: string | undefined
  item: Item | undefined
  issues: readonly RecordIssue[]
}

export interface BatchOf<Item> {
  items: readonly Item[]
  /** JSON, when it is time to write it down. */
  progressJson: string | undefined
  applied: Applied
}

interface Steps<Item> {
  map(record: ParsedRecord): MappedRecord<Item>
  /** What the splitter and the parser found wrong, in words that may be shown. */
  describe?(issues: readonly RecordIssue[]): readonly RecordIssue[]
  /** One transaction. */
  apply(batch: BatchOf<Item>): Promise<void>
  /** Between two transactions, while nothing else of the pass is under way. */
  settle?(applied: Applied): Promise<void>
}

/** The second pass: each batch of records is one transaction. Safe to repeat from the first record. */
export async function applyPass<Item>(options: PassOptions, steps: Steps<Item>): Promise<Applied> {
  const { context, accept, path, bytes, judgement } = options
  const { name } = accept
  const { dialect, columns, grouping } = judgement
  const { recordBytes } = context.feed.format
  const spillDir = spillDirOf(context)
  const file = { path, name, bytes, signal: context.signal }
  const source = { ...file, dialect, columns, grouping, recordBytes, spillDir }
  const applied: Applied = { unchanged: 0, superseded: 0, incomplete: 0 }
  // One transaction is under way while the next batch is parsed and mapped.
  let running: Promise<void> = Promise.resolve()
  try {
    const records = readGroupedRecords(source)
    const onMoved = () => context.work.advance()
    for await (const batch of transformRecords(records, options.transform, { name, onMoved })) {
      for (const issue of batch.skipped ?? []) options.problems.add([issue])
      for (const found of batch.rejected) {
        const issues = steps.describe?.(found.issues) ?? found.issues
        if (!found.isRest) options.problems.add(issues)
        await options.rejects.write({ ...found, issues })
      }
      const items = await mapRecords(batch.records, { options, steps, applied })
      await running
      await steps.settle?.(applied)
      context.work.advance()
      const progressJson = options.progress.update({
        bytesRead: batch.bytesRead,
        records: batch.records.length,
      })
      running = steps.apply({ items, progressJson, applied })
      running.catch(() => undefined)
      await options.turn.take()
    }
  } finally {
    // Even when reading failed: no transaction is left running behind the caller's back.
    await running
  }
  return applied
}

interface Mapping<Item> {
  options: PassOptions
  steps: Steps<Item>
  applied: Applied
}

async function mapRecords<Item>(
  records: readonly ParsedRecord[],
  { options, steps, applied }: Mapping<Item>,
): Promise<Item[]> {
  const items: Item[] = []
  for (const record of records) {
    const { id, item, issues } = steps.map(record)
    if (item !== undefined && id !== undefined && !options.judgement.ids.isLast(id, record.record)) {
      applied.superseded += 1
      continue
    }
    options.problems.add([...(record.issues ?? []), ...issues])
    if (item !== undefined) items.push(item)
    else
      for (const row of originalRows(record))
        await options.rejects.write({ ...row, issues, culprit: record.record })
  }
  return items
}
