import type { ParsedRecord, RecordIssue, RejectedRecord } from '../records/model.ts'
import { readGroupedRecords } from '../records/read-grouped-records.ts'
import { rejectedRows } from '../records/rejected-rows.ts'
import { transformRecords } from '../records/transform-records.ts'
import type { FeedFile } from './open-feed-file.ts'
import type { ProblemCollector } from './report.ts'

/** What one record says. */
export interface ReadItem<Item> {
  id: string
  item: Item
  record: ParsedRecord
  /** Warnings. */
  issues: readonly RecordIssue[]
}

/** What neighbouring records of a file say. */
export interface ReadBatch<Item> {
  /** In file order. Of several with one id, only the last one of the file. */
  items: ReadItem<Item>[]
  /** Those that a later one with their id replaces. */
  superseded: ReadItem<Item>[]
  /** Rows of the file that are not applied. */
  rejected: RejectedRecord[]
  /** Records that were mapped. */
  records: number
  /** Of the file. */
  bytesRead: number
}

interface ReadOptions {
  /** For which time the records are read: since the epoch in ms. */
  now(): number
  /** Takes what is wrong with each record that no later one replaces. */
  problems: ProblemCollector
  /** Whoever reads counts the warnings of the items: what becomes of them is not certain yet. */
  leavesWarnings?: boolean
  onProgress?: ((bytesRead: number) => void) | undefined
  /** A record has left the transform. */
  onMoved?: (() => void) | undefined
}

/** The second pass over a file, for all who read one: read, transform, map, keep the last of each id. */
export async function* readFeedFile<Item>(
  file: FeedFile<Item>,
  options: ReadOptions,
): AsyncGenerator<ReadBatch<Item>> {
  const { source, recordBytes, transform } = file
  const { problems, onProgress, onMoved } = options
  const reading = { file, ...options }
  const records = readGroupedRecords({ ...source, ...file.judgement, recordBytes, onProgress })
  for await (const read of transformRecords(records, transform, { name: source.name, onMoved })) {
    for (const issue of read.skipped ?? []) problems.add([issue])
    const rejected = read.rejected.map((row) => ({ ...row, issues: row.issues.map(file.show) }))
    for (const { issues, isRest } of rejected) if (!isRest) problems.add(issues)
    const { bytesRead } = read
    const batch = { items: [], superseded: [], rejected, records: read.records.length, bytesRead }
    for (const record of read.records) addRecord(batch, record, reading)
    yield batch
  }
}

function addRecord<Item>(
  batch: ReadBatch<Item>,
  record: ParsedRecord,
  { file, now, problems, leavesWarnings }: ReadOptions & { file: FeedFile<Item> },
): void {
  const { id, item, issues: own } = file.map(record, now())
  const issues = record.issues ? [...record.issues, ...own] : own
  if (item === undefined || id === undefined) {
    problems.add(issues)
    batch.rejected.push(...rejectedRows(record, own))
  } else if (!file.judgement.ids.isLast(id, record.record)) {
    batch.superseded.push({ id, item, record, issues })
  } else {
    if (!leavesWarnings) problems.add(issues)
    batch.items.push({ id, item, record, issues })
  }
}
