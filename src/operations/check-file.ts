import { requiredFields } from '../api/contract/product.ts'
import type { ProductPatch } from '../catalog/model.ts'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import { ProblemCollector, type ProblemSummary } from '../imports/report.ts'
import { describeDialect } from '../records/describe-dialect.ts'
import { readRecords } from '../records/read-records.ts'
import { type OpenedFile, openFile } from './open-file.ts'

/** What importing a file would find, without touching anything. */
export interface FileCheck {
  file: string
  feed: string
  mode: FeedMode
  bytes: number
  /** Whether the file would be imported whole and without a rejected record. */
  ok: boolean
  /** Why nothing of it would be applied. */
  refused?: { reason: string; hint: string | undefined }
  missingColumns?: readonly { column: string; field: string; suggestion?: string }[]
  dialect?: string
  columns?: readonly string[]
  records: number
  applied: number
  rejected: number
  warned: number
  /** Records that a later record with the same id replaces. */
  superseded: number
  /** Applied products that this feed alone does not complete, and how often each field is missing. */
  incomplete: { products: number; fields: Readonly<Record<string, number>> }
  warnings: readonly string[]
  problems: readonly ProblemSummary[]
}

interface CheckOptions {
  feed: FeedConfig
  file: string
  signal: AbortSignal
  onProgress?: (bytesRead: number) => void
}

export async function checkFile(options: CheckOptions): Promise<FileCheck> {
  const opened = await openFile(options)
  const check: FileCheck = {
    file: options.file,
    feed: options.feed.name,
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
  }
  if (opened.kind === 'refused') return { ...check, refused: { reason: opened.reason, hint: opened.hint } }
  const { dialect, columns, records, warnings } = opened.judgement
  const judged = { ...check, dialect: describeDialect(dialect), columns, records, warnings }
  if (opened.kind === 'missing-columns') return { ...judged, missingColumns: opened.missingColumns }
  return { ...judged, ...(await readAll(opened, options)) }
}

type Readable = Extract<OpenedFile, { kind: 'readable' }>

async function readAll(
  { judgement, mapping, bytes, name }: Readable,
  { file, feed, signal, onProgress }: CheckOptions,
) {
  const problems = new ProblemCollector()
  const gaps = new Map<string, number>()
  const counts = { applied: 0, superseded: 0, incomplete: 0 }
  const { recordBytes } = feed.format
  const source = { path: file, name, bytes, ...judgement, recordBytes, signal, onProgress }
  for await (const batch of readRecords(source)) {
    for (const rejected of batch.rejected) problems.add(rejected.issues)
    for (const record of batch.records) {
      const { patch, issues } = mapping.map(record)
      if (patch && !judgement.ids.isLast(patch.productId, record.record)) {
        counts.superseded += 1
        continue
      }
      problems.add(issues)
      if (!patch) continue
      counts.applied += 1
      const missing = missingFields(patch)
      if (missing.length > 0) counts.incomplete += 1
      for (const field of missing) gaps.set(field, (gaps.get(field) ?? 0) + 1)
    }
  }
  return {
    ok: problems.rejected === 0,
    applied: counts.applied,
    superseded: counts.superseded,
    rejected: problems.rejected,
    warned: problems.warned,
    incomplete: { products: counts.incomplete, fields: Object.fromEntries(gaps) },
    problems: problems.summaries(),
  }
}

function missingFields({ set }: ProductPatch): string[] {
  return requiredFields.filter((field) => field !== 'product_id' && !Object.hasOwn(set, field))
}
