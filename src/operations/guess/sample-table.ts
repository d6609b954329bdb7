import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { FormatConfig } from '../../config/format-model.ts'
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
  /** What the objects of these lists hold. */
  members: readonly MemberColumn[]
  /** Columns that are lists of texts; here the texts stand in one, as in a cell. */
  textLists: ReadonlySet<string>
  records: number
  warnings: readonly string[]
}

/** What the objects of one list have under one path, as far as they are looked at. */
export interface MemberColumn {
  list: string
  /** The path of the list with the path in its objects behind it. */
  column: string
  /** One for each object of each record. */
  cells: readonly SampleCell[]
}

const sampleRowsMax = 500
/** Keys of objects that are looked at; more are data in the place of keys. */
const pathsMax = 500
const depthMax = 6
/** Objects of one list that are looked at. */
const membersMax = 2000

const detectAll: FormatConfig = { ...anyFormat, recordBytes: 16_000_000 }

interface ReadOptions {
  signal: AbortSignal
  format?: Partial<FormatConfig>
  onProgress?: ((bytesRead: number) => void) | undefined
}

/** Reads the whole file once, then its beginning. Throws a FileRefusedError as an import would. */
export async function readSampleTable(
  file: string,
  { signal, format = {}, onProgress }: ReadOptions,
): Promise<SampleTable> {
  const source = { path: file, name: basename(file), bytes: (await stat(file)).size, signal }
  const judgement = await judgeFile({
    ...source,
    onProgress,
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
  return { columns, rows, lists: [], members: [], textLists: new Set<string>() }
}

/** The columns of objects are the paths to their texts and numbers. */
async function readObjects(source: Source, judgement: Judgement) {
  const objects: object[] = []
  for await (const { source: object } of firstRecords(source, judgement)) {
    if (typeof object === 'object') objects.push(object)
  }
  const lists = new Map<string, ReadonlyMap<string, SampleCell>[]>()
  for (const object of objects) findLists(object, { path: '', depth: 0 }, lists)
  const columns = new Set<string>()
  const textLists = new Set<string>()
  const records = objects.map((object) => {
    const leaves = new Map<string, SampleCell>()
    collectLeaves(object, { path: '', depth: 0, leaves, lists, textLists })
    for (const path of leaves.keys()) if (columns.size < pathsMax) columns.add(path)
    return leaves
  })
  const names = [...columns]
  const rows = records.map((leaves) => names.map((name) => leaves.get(name) ?? ''))
  const members = [...lists].flatMap(memberColumns)
  return { columns: names, rows, lists: [...lists.keys()], members, textLists }
}

function memberColumns([list, objects]: [
  string,
  readonly ReadonlyMap<string, SampleCell>[],
]): MemberColumn[] {
  const columns = new Set(objects.flatMap((leaves) => [...leaves.keys()]))
  return [...columns]
    .slice(0, pathsMax)
    .map((column) => ({ list, column, cells: objects.map((leaves) => leaves.get(column) ?? '') }))
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

interface Place {
  path: string
  depth: number
}

interface Visit extends Place {
  leaves: Map<string, SampleCell>
  /** Of each list the objects, as far as they were seen. */
  lists: ReadonlyMap<string, ReadonlyMap<string, SampleCell>[]>
  textLists: Set<string>
}

/** Where one record has a list of objects, one object in another is a list too, as in XML. */
function findLists(value: unknown, { path, depth }: Place, lists: Map<string, unknown[]>): void {
  if (Array.isArray(value)) {
    if (value.some((element) => typeof element === 'object')) lists.set(path, [])
  } else if (typeof value === 'object' && value !== null && depth < depthMax) {
    for (const [key, content] of Object.entries(value))
      findLists(content, { path: pathBelow(path, key), depth: depth + 1 }, lists)
  }
}

/** Of a list the elements stand in one text, as in a cell; lists of objects are no cells. */
function collectLeaves(value: unknown, visit: Visit): void {
  const { path, depth, leaves, lists, textLists } = visit
  const members = depth === 0 ? undefined : lists.get(path)
  for (const element of members ? [value].flat() : []) {
    if (members && members.length < membersMax) members.push(leavesOf(element, path))
    const [column, cell] = namedCell(element, path) ?? []
    if (column !== undefined && cell !== undefined) leaves.set(column, cell)
  }
  if (Array.isArray(value)) {
    const texts = value.filter((element) => typeof element !== 'object')
    if (texts.length === 0) return
    leaves.set(path, texts.map(cellOf).join('|'))
    textLists.add(path)
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= depthMax) return
    for (const [key, content] of Object.entries(value))
      collectLeaves(content, { ...visit, path: pathBelow(path, key), depth: depth + 1 })
  } else if (path !== '') leaves.set(path, cellOf(value))
}

const nameKey = /^@?(?:attribute_?)?(?:code|name|key)$|^param_?name$/i
const valueKey = /^(?:value|val|#text)$/i

/** Of an object with a name and a value: what holds the value of that name, in the words of a rule. */
function namedCell(element: unknown, path: string): [column: string, cell: SampleCell] | undefined {
  if (typeof element !== 'object' || element === null) return undefined
  const entries = Object.entries(element)
  const [key, name] = entries.find(([key]) => nameKey.test(key)) ?? []
  const [below, value] = entries.find(([key]) => valueKey.test(key)) ?? []
  if (key === undefined || below === undefined || typeof name !== 'string' || /[=.[\]{}]/.test(name))
    return undefined
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return [pathBelow(`${path}[${key}=${name}]`, below), cellOf(value)]
}

/** Of one object of a list, without the lists in it. */
function leavesOf(element: unknown, path: string): ReadonlyMap<string, SampleCell> {
  const leaves = new Map<string, SampleCell>()
  collectLeaves(element, { path, depth: 0, leaves, lists: new Map(), textLists: new Set() })
  return leaves
}

function pathBelow(path: string, key: string): string {
  return key === '#text' ? path : path === '' ? key : `${path}.${key}`
}

function cellOf(value: unknown): SampleCell {
  if (typeof value === 'number') return value
  return value === undefined || value === null ? '' : String(value).trim()
}
