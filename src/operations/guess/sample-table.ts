import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { FormatConfig } from '../../config/model.ts'
import { anyFormat } from '../../records/any-format.ts'
import { type Judgement, judgeFile } from '../../records/judge.ts'
import type { Dialect } from '../../records/model.ts'
import { readRecords } from '../../records/read-records.ts'

/** A text as found, or a number of JSON, which needs no marks to be read. */
export type SampleCell = string | number

/** What a file holds, as far as guessing looks. */
export interface SampleTable {
  name: string
  dialect: Dialect
  columns: readonly string[]
  /** By column; empty where there is none. At most `sampleRowsMax`, from the beginning of the file. */
  rows: readonly (readonly SampleCell[])[]
  /** Of objects: paths of lists that hold objects themselves, whose texts are no columns. */
  lists: readonly string[]
  records: number
  warnings: readonly string[]
}

const sampleRowsMax = 500
/** Keys of objects that are looked at; more are data in the place of keys. */
const pathsMax = 500
const depthMax = 4

const detectAll: FormatConfig = { ...anyFormat, recordBytes: 16_000_000 }

/** Reads the whole file once, then its beginning. Throws a FileRefusedError as an import would. */
export async function readSampleTable(
  file: string,
  { signal, format = {} }: { signal: AbortSignal; format?: Partial<FormatConfig> },
): Promise<SampleTable> {
  const source = { path: file, name: basename(file), bytes: (await stat(file)).size, signal }
  const judgement = await judgeFile({
    ...source,
    format: { ...detectAll, ...format },
    neededColumns: [],
    openIdReader: () => undefined,
  })
  const { dialect, records, warnings } = judgement
  const table =
    dialect.type === 'csv' ? await readRows(source, judgement) : await readObjects(source, judgement)
  return { name: source.name, dialect, records, warnings, ...table }
}

type Source = { path: string; name: string; bytes: number; signal: AbortSignal }

async function readRows(source: Source, judgement: Judgement) {
  const { columns } = judgement
  const rows: SampleCell[][] = []
  for await (const record of firstRecords(source, judgement)) {
    rows.push(columns.map((_, index) => cellOf(record.cells[index])))
  }
  return { columns, rows, lists: [] }
}

/** The columns of objects are the paths to their texts and numbers. */
async function readObjects(source: Source, judgement: Judgement) {
  const records: ReadonlyMap<string, SampleCell>[] = []
  const columns = new Set<string>()
  const lists = new Set<string>()
  for await (const { source: object } of firstRecords(source, judgement)) {
    if (typeof object !== 'object') continue
    const leaves = new Map<string, SampleCell>()
    collectLeaves(object, { path: '', depth: 0, leaves, lists })
    for (const path of leaves.keys()) if (columns.size < pathsMax) columns.add(path)
    records.push(leaves)
  }
  const names = [...columns]
  const rows = records.map((leaves) => names.map((name) => leaves.get(name) ?? ''))
  return { columns: names, rows, lists: [...lists] }
}

async function* firstRecords(source: Source, judgement: Judgement) {
  const { dialect, columns } = judgement
  let count = 0
  for await (const batch of readRecords({
    ...source,
    dialect,
    columns,
    recordBytes: detectAll.recordBytes,
  })) {
    for (const record of batch.records) {
      yield record
      count += 1
      if (count >= sampleRowsMax) return
    }
  }
}

interface Visit {
  path: string
  depth: number
  leaves: Map<string, SampleCell>
  lists: Set<string>
}

/** Of a list the elements stand in one text, as in a cell; lists of objects are no cells. */
function collectLeaves(value: unknown, { path, depth, leaves, lists }: Visit): void {
  if (Array.isArray(value)) {
    const texts = value.filter((element) => typeof element !== 'object')
    if (texts.length < value.length) lists.add(path)
    if (texts.length > 0) leaves.set(path, texts.map(cellOf).join('|'))
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= depthMax) return
    for (const [key, content] of Object.entries(value)) {
      const below = key === '#text' ? path : path === '' ? key : `${path}.${key}`
      collectLeaves(content, { path: below, depth: depth + 1, leaves, lists })
    }
  } else if (path !== '') leaves.set(path, cellOf(value))
}

function cellOf(value: unknown): SampleCell {
  if (typeof value === 'number') return value
  return value === undefined || value === null ? '' : String(value).trim()
}
