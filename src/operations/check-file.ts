import { requiredFields } from '../api/contract/product.ts'
import type { ProductPatch } from '../catalog/model.ts'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import { describeJudgement } from '../imports/import-run.ts'
import { type FeedFile, type ReadBatch, readFeedFile } from '../imports/open-feed-file.ts'
import { ProblemCollector, type ProblemSummary } from '../imports/report.ts'
import { openFile } from './open-file.ts'

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
  /** Told what each batch of a file of products says. */
  onProducts?: (batch: ReadBatch<ProductPatch>) => void
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
  const judged = { ...check, ...describeJudgement(opened.judgement), columns: opened.judgement.columns }
  if (opened.kind === 'missing-columns') return { ...judged, missingColumns: opened.missingColumns }
  if (opened.kind === 'consents') return { ...judged, ...(await readAll(opened, options)) }
  const gaps = new Map<string, number>()
  let products = 0
  const found = await readAll(opened, options, (batch) => {
    options.onProducts?.(batch)
    for (const { item } of batch.items) {
      const missing = missingFields(item)
      if (missing.length > 0) products += 1
      for (const field of missing) gaps.set(field, (gaps.get(field) ?? 0) + 1)
    }
  })
  return { ...judged, ...found, incomplete: { products, fields: Object.fromEntries(gaps) } }
}

type Readable<Item> = FeedFile<Item> & { kind: FeedConfig['kind']; mode: FeedMode }

async function readAll<Item>(
  opened: Readable<Item>,
  { nowMs, onProgress }: CheckOptions,
  onBatch?: (batch: ReadBatch<Item>) => void,
) {
  const problems = new ProblemCollector()
  const counts = { applied: 0, superseded: 0 }
  const ids = describeIds(opened)
  for await (const batch of readFeedFile(opened, { now: () => nowMs, problems, onProgress })) {
    onBatch?.(batch)
    counts.applied += batch.items.length
    counts.superseded += batch.superseded.length
    for (const { id, record } of batch.superseded.slice(0, 1))
      ids.example ??= opened.kind === 'consents' ? { line: record.line } : { line: record.line, id }
  }
  // Of a full file with such records nobody can say what it no longer names: its removals wait.
  const areIdsKnown = opened.mode === 'delta' || ids.unreadable === 0
  return {
    ok: problems.rejected === 0 && areIdsKnown,
    ids,
    ...counts,
    rejected: problems.rejected,
    warned: problems.warned,
    problems: problems.summaries(),
    issues: problems.counts(),
  }
}

function describeIds({ judgement, idColumns }: FeedFile<unknown>): NonNullable<FileCheck['ids']> {
  const { ids, unreadableIds, columns, grouping } = judgement
  const places = grouping?.links.headColumns ?? idColumns
  return {
    columns: places.map((place) => columns[place] ?? ''),
    different: ids.size,
    repeated: ids.repeated,
    unreadable: unreadableIds,
  }
}

function missingFields({ set }: ProductPatch): string[] {
  return requiredFields.filter((field) => field !== 'product_id' && set[field] === undefined)
}
