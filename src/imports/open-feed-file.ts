import { type ConsentStatement, compileConsentMapping } from '../catalog/consent-mapping.ts'
import { type Binding, compileMapping, type MappedRecord, type MissingColumn } from '../catalog/mapping.ts'
import type { ProductPatch } from '../catalog/model.ts'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import type { FileRefusedError } from '../lib/errors.ts'
import { redactEmails } from '../lib/redact.ts'
import { type Judgement, judgeFile } from '../records/judge.ts'
import type { IdReader, KnownFilter } from '../records/judge-model.ts'
import type { Dialect, ParsedRecord, RecordIssue, RejectedRecord } from '../records/model.ts'
import type { FileSource } from '../records/read-file.ts'
import { readGroupedRecords } from '../records/read-grouped-records.ts'
import type { ReadOptions as RecordOptions } from '../records/read-records.ts'
import { rejectedRows, type TransformStep, transformRecords } from '../records/transform-records.ts'
import { readTables } from './read-tables.ts'
import type { ProblemCollector } from './report.ts'

/** A file that was judged and whose columns are those that its feed maps. */
export interface FeedFile<Item> {
  source: FileSource
  judgement: Judgement
  /** Mapped columns that no record of a full JSON or XML file has. */
  absentColumns: readonly MissingColumn[]
  neededColumns: readonly string[]
  recordBytes: number
  idColumns: readonly number[]
  /** Which records are read; default: all. */
  select?: RecordOptions['select']
  places?: RecordOptions['places']
  /** What makes the records that `map` is given. */
  transform?: TransformStep | undefined
  map(record: ParsedRecord, nowMs: number): MappedRecord<Item>
  /** What is found before a record is mapped, in words that may be shown. */
  show(issue: RecordIssue): RecordIssue
}

export type ProductFile = FeedFile<ProductPatch> & { kind: 'products' }
export type ConsentFile = FeedFile<ConsentStatement> & { kind: 'consents' }

/** Without these columns the file says nothing, or not what the feed is to say. */
export interface UnboundFile {
  kind: 'missing-columns'
  judgement: Judgement
  missingColumns: readonly MissingColumn[]
}

export interface OpenOptions {
  feed: FeedConfig
  mode: FeedMode
  source: FileSource
  /** Fields whose columns are absent say nothing: only the id is needed. */
  isLenient?: boolean
  /** Reads more of each record than its id. */
  listener?: IdListener
  openKnown?: ((reading: Reading) => Promise<KnownFilter | undefined>) | undefined
}

/** What decides what the bytes of a record say, besides the configuration. */
export interface Reading {
  dialect: Dialect
  columns: readonly string[]
  /** Of the tables in which values are looked up. */
  tables: string
}

export interface IdListener {
  columns: readonly string[]
  listen(columns: readonly string[], reader: IdReader | undefined): IdReader | undefined
}

/** The first pass over a file of products. Throws a FileRefusedError, and a ConfigError when a table cannot be read. */
export async function openProducts(options: OpenOptions): Promise<ProductFile | UnboundFile> {
  const { feed, mode, source } = options
  const tables = await readTables(feed, source.signal)
  const readTable = tables?.read
  const opened = await judgeWith(compileMapping({ feed, mode, readTable }), options, tables?.digest)
  if (opened.kind !== 'bound') return opened
  const { bound, ...file } = opened
  return {
    ...file,
    kind: 'products',
    transform: bound.transform,
    map: (record, nowMs) => {
      const { patch, issues } = bound.map(record, nowMs)
      return { id: patch?.productId, item: patch, issues }
    },
    show: (issue) => issue,
  }
}

/** The same for a file of consents. Nothing of it that can be shown holds an address. */
export async function openConsents(options: OpenOptions): Promise<ConsentFile | UnboundFile> {
  const mapping = compileConsentMapping(options.feed)
  const opened = await judgeWith({ ...mapping, bindLeniently: mapping.bind }, options)
  const { judgement } = opened
  const shown = { ...judgement, warnings: judgement.warnings.map(redactEmails) }
  if (opened.kind !== 'bound') return { ...opened, judgement: shown }
  const { bound, ...file } = opened
  return {
    ...file,
    kind: 'consents',
    judgement: shown,
    map: bound.map,
    show: withoutAddress,
  }
}

interface FeedMapping<Bound> {
  neededColumns: readonly string[]
  bind(columns: readonly string[]): Binding<Bound>
  bindLeniently(columns: readonly string[]): Binding<Bound>
}

async function judgeWith<Bound extends { idReader: IdReader }>(
  mapping: FeedMapping<Bound>,
  { feed, mode, source, isLenient = false, listener, openKnown }: OpenOptions,
  tables = '',
) {
  const expected = mapping.bind([])
  const neededColumns = [...new Set([...mapping.neededColumns, ...(listener?.columns ?? [])])]
  const judged = await judgeFile({
    ...source,
    expectedColumns: expected.kind === 'bound' ? [] : expected.missingColumns.map(({ column }) => column),
    format: feed.format,
    openKnown: openKnown && ((found) => openKnown({ ...found, tables })),
    neededColumns,
    openIdReader: (columns) => {
      const binding = mapping.bindLeniently(columns)
      const reader = binding.kind === 'bound' ? binding.bound.idReader : undefined
      return listener ? listener.listen(columns, reader) : reader
    },
  })
  const { columns } = judged
  // What a delta file does not say stays.
  const absentColumns = mode === 'full' ? findAbsent(mapping, judged) : []
  const absent = absentColumns.map(({ column, field }) => `no record has "${column}" (for ${field})`)
  const judgement = { ...judged, warnings: [...judged.warnings, ...absent] }
  const binding = isLenient ? mapping.bindLeniently(columns) : mapping.bind(columns)
  if (binding.kind !== 'bound') return { ...binding, judgement }
  const { recordBytes } = feed.format
  const idColumns = binding.bound.idReader.indices
  return { ...binding, source, judgement, absentColumns, neededColumns, recordBytes, idColumns }
}

/** Records of JSON and XML have no header: their columns are those that are mapped, and a record may lack some. */
function findAbsent(
  mapping: Pick<FeedMapping<unknown>, 'bind'>,
  { records, columns, absentColumns }: Judgement,
): MissingColumn[] {
  if (records === 0 || absentColumns.length === 0) return []
  const binding = mapping.bind(columns.filter((column) => !absentColumns.includes(column)))
  return binding.kind === 'bound'
    ? []
    : binding.missingColumns.map(({ column, field }) => ({ column, field }))
}

/** Why nothing of a file is applied, and what to do; a file of consents may be called by an address. */
export function describeRefusal({ kind }: FeedConfig, { message, hint }: FileRefusedError) {
  const show = kind === 'consents' ? redactEmails : (text: string) => text
  return { reason: show(message), ...(hint === undefined ? {} : { hint: show(hint) }) }
}

/** A parser quotes from a line that it cannot read. */
function withoutAddress(issue: RecordIssue): RecordIssue {
  const { remedy } = issue
  const isNoJson = issue.code === 'not-json'
  const message = isNoJson ? `is no JSON object${remedy ? `; ${remedy}` : ''}` : redactEmails(issue.message)
  const field = issue.field === undefined ? undefined : redactEmails(issue.field)
  const value = issue.value === undefined ? undefined : redactEmails(issue.value)
  return { ...issue, field, message, value }
}

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
  rejected: RejectedRecord[]
  records: number
  bytesRead: number
}

/** What is made of a record takes many times its bytes. A few at a time are garbage before anything has to copy them. */
const recordsPerBatch = 16

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
  const records = readGroupedRecords({
    ...{ ...source, ...file.judgement, recordBytes, onProgress },
    select: file.select,
    // A transform may read any.
    neededColumns: transform ? undefined : file.neededColumns,
    // Each batch is a message to the thread of a transform.
    ...(transform || file.places ? {} : { recordsPerBatch }),
    places: file.places,
  })
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
