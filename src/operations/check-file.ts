import { requiredFields } from '../api/contract/product.ts'
import type { ProductPatch } from '../catalog/model.ts'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import { withoutAddress } from '../imports/import-consents.ts'
import { ProblemCollector, type ProblemSummary } from '../imports/report.ts'
import { describeDialect } from '../records/describe-dialect.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { readGroupedRecords } from '../records/read-grouped-records.ts'
import { transformRecords } from '../records/transform-records.ts'
import { type OpenedFile, openFile } from './open-file.ts'

/** What importing a file would find, without touching anything. */
export interface FileCheck {
  file: string
  feed: string
  kind: FeedConfig['kind']
  mode: FeedMode
  bytes: number
  /** Whether the file would be imported whole, without a rejected record, and nothing that it no longer names waits. */
  ok: boolean
  /** Why nothing of it would be applied. */
  refused?: { reason: string; hint: string | undefined }
  missingColumns?: readonly { column: string; field: string; suggestion?: string }[]
  dialect?: string
  columns?: readonly string[]
  records: number
  /** Where several rows make a product, of which each is one record. */
  rows?: number
  /** Whether the ids tell records apart. `columns` hold them; `repeated` ids stand in several records each. */
  ids?: {
    columns: readonly string[]
    different: number
    repeated: number
    /** Records without a readable id. */
    unreadable: number
    /** The first record that a later one with its id replaces; without the id where that is an address. */
    example?: { line: number; id?: string }
  }
  applied: number
  rejected: number
  warned: number
  /** Records that a later record with the same id replaces. */
  superseded: number
  /** Applied products that this feed alone does not complete, and how often each field is missing. */
  incomplete: { products: number; fields: Readonly<Record<string, number>> }
  warnings: readonly string[]
  /** Most frequent first. */
  problems: readonly ProblemSummary[]
  /** By code, how often it occurs. */
  issues: Readonly<Record<string, number>>
}

interface CheckOptions {
  feed: FeedConfig
  file: string
  /** For which time the file is read: since the epoch in ms. */
  nowMs: number
  signal: AbortSignal
  onProgress?: ((bytesRead: number) => void) | undefined
}

export async function checkFile(options: CheckOptions): Promise<FileCheck> {
  const opened = await openFile(options)
  const check: FileCheck = {
    file: options.file,
    feed: options.feed.name,
    kind: options.feed.kind,
    mode: opened.mode,
    bytes: opened.bytes,
    ok: false,
    records: 0,
    applied: 0,
    rejected: 0,
    warned: 0,
    superseded: 0,
    incomplete: { products: 0, fields: {} },
    warnings: [],
    problems: [],
    issues: {},
  }
  if (opened.kind === 'refused') return { ...check, refused: { reason: opened.reason, hint: opened.hint } }
  const { dialect, columns, records, grouping, warnings } = opened.judgement
  const counted = grouping ? { records, rows: grouping.rows } : { records }
  const judged = { ...check, ...counted, dialect: describeDialect(dialect), columns, warnings }
  if (opened.kind === 'missing-columns') return { ...judged, missingColumns: opened.missingColumns }
  return { ...judged, ...(await readAll(opened, options)) }
}

type Readable = Extract<OpenedFile, { kind: 'readable' | 'consents' }>

async function readAll(opened: Readable, { file, feed, nowMs, signal, onProgress }: CheckOptions) {
  const { judgement, bytes, name } = opened
  const map = readerOf(opened, nowMs)
  const problems = new ProblemCollector()
  const gaps = new Map<string, number>()
  const counts = { applied: 0, superseded: 0, incomplete: 0 }
  const ids = describeIds(opened)
  const { recordBytes } = feed.format
  const source = { path: file, name, bytes, ...judgement, recordBytes, signal, onProgress }
  const transform = opened.kind === 'consents' ? undefined : opened.mapping.transform
  for await (const batch of transformRecords(readGroupedRecords(source), transform, { name })) {
    for (const issue of batch.skipped ?? []) problems.add([issue])
    for (const { issues, isRest } of batch.rejected) {
      if (isRest) continue
      problems.add(opened.kind === 'consents' ? issues.map(withoutAddress) : issues)
    }
    for (const record of batch.records) {
      const { id, missing, issues } = map(record)
      if (id !== undefined && !judgement.ids.isLast(id, record.record)) {
        counts.superseded += 1
        ids.example ??= opened.kind === 'consents' ? { line: record.line } : { line: record.line, id }
        continue
      }
      problems.add([...(record.issues ?? []), ...issues])
      if (id === undefined) continue
      counts.applied += 1
      if (missing.length > 0) counts.incomplete += 1
      for (const field of missing) gaps.set(field, (gaps.get(field) ?? 0) + 1)
    }
  }
  // Of a full file with such records nobody can say what it no longer names: its removals wait.
  const areIdsKnown = opened.mode === 'delta' || ids.unreadable === 0
  return {
    ok: problems.rejected === 0 && areIdsKnown,
    ids,
    applied: counts.applied,
    superseded: counts.superseded,
    rejected: problems.rejected,
    warned: problems.warned,
    incomplete: { products: counts.incomplete, fields: Object.fromEntries(gaps) },
    problems: problems.summaries(),
    issues: problems.counts(),
  }
}

function describeIds({ judgement, mapping }: Readable): NonNullable<FileCheck['ids']> {
  const { ids, unreadableIds, columns, grouping } = judgement
  const places = grouping?.links.headColumns ?? mapping.idReader.indices
  return {
    columns: places.map((place) => columns[place] ?? ''),
    different: ids.size,
    repeated: ids.repeated,
    unreadable: unreadableIds,
  }
}

interface ReadRecord {
  /** Of a record that would be applied. */
  id: string | undefined
  missing: readonly string[]
  issues: readonly RecordIssue[]
}

function readerOf(opened: Readable, nowMs: number): (record: ParsedRecord) => ReadRecord {
  if (opened.kind === 'consents') {
    const { mapping } = opened
    return (record) => {
      const { id, statement, issues } = mapping.map(record)
      return { id: statement && id, missing: [], issues }
    }
  }
  const { mapping } = opened
  return (record) => {
    const { patch, issues } = mapping.map(record, nowMs)
    return { id: patch?.productId, missing: patch ? missingFields(patch) : [], issues }
  }
}

function missingFields({ set }: ProductPatch): string[] {
  return requiredFields.filter((field) => field !== 'product_id' && !Object.hasOwn(set, field))
}
