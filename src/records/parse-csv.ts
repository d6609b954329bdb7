import { parse } from 'csv-parse/sync'
import { CellReader, plainCells } from './cells.ts'
import { columnsMax } from './limits.ts'
import { type Dialect, issueOf, type ParsedRecord, type RecordSlice, type RejectedRecord } from './model.ts'
import { fileRefusal } from './read-file.ts'

export type ParsedSlice = { parsed: ParsedRecord } | { rejected: RejectedRecord }

/** What the splitter's borders are made for; csv-parse would else take its line end from the first record alone. */
export function csvParseOptions({
  delimiter,
  quote,
  lineEnd,
}: Pick<Dialect, 'delimiter' | 'quote' | 'lineEnd'>) {
  return {
    delimiter,
    quote: quote ?? null,
    escape: quote ?? null,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    record_delimiter: lineEnd === '\r' ? ['\r\n', '\n', '\r'] : ['\r\n', '\n'],
  }
}

/** Parses slices of one chunk: at once where their quotes leave no question, else with csv-parse, neighbours in one go. */
export function parseCsv(
  slices: readonly RecordSlice[],
  dialect: Dialect,
  columns: readonly string[],
): ParsedSlice[] {
  if (slices.some(({ bytes }) => mayBeTooWide(bytes)))
    return slices.map((slice) => parseAlone(slice, dialect, columns))
  const rows = slices.map(({ bytes }): Row | undefined => plainCells(bytes.toString('utf8'), dialect))
  const odd = slices.map((_, index) => index).filter((index) => rows[index] === undefined)
  const options = csvParseOptions(dialect)
  const parsed = neighbours(odd.map((index) => slices[index] as RecordSlice)).flatMap((run) =>
    parseRun(run, options),
  )
  for (const [place, index] of odd.entries()) rows[index] = parsed[place]
  return slices.map((slice, index) => toParsed(slice, rows[index], columns))
}

function toParsed(slice: RecordSlice, row: Row | undefined, columns: readonly string[]): ParsedSlice {
  return row instanceof Error || row === undefined ? unparsable(slice, row) : checkCount(slice, row, columns)
}

/** A cell and its delimiter take a byte at least. */
function mayBeTooWide(bytes: Buffer): boolean {
  return bytes.length > columnsMax
}

/** The parser would make millions of cells of a record that is nothing but delimiters. */
function parseAlone(slice: RecordSlice, dialect: Dialect, columns: readonly string[]): ParsedSlice {
  const width = mayBeTooWide(slice.bytes) ? new CellReader(dialect).count(slice.bytes) : 0
  if (width > columnsMax)
    return unparsable(slice, new Error(`it has ${width} cells, more than ${columnsMax}`))
  const [row] = parseRun([slice], csvParseOptions(dialect))
  return toParsed(slice, row, columns)
}

type Row = string[] | Error

function parseRun(run: readonly RecordSlice[], options: ReturnType<typeof csvParseOptions>): Row[] {
  try {
    const rows = parse(spanOf(run), options)
    if (rows.length === run.length) return rows
  } catch {
    // One of them is not parsable: alone, the others are.
  }
  return run.map((slice) => {
    try {
      const rows = parse(slice.bytes, options)
      return rows.length === 1 && rows[0] !== undefined
        ? rows[0]
        : new Error(`it makes ${rows.length} records`)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  })
}

/** Runs of slices with nothing but line ends and blank records between them: same memory, numbered without a gap. */
function neighbours(slices: readonly RecordSlice[]): RecordSlice[][] {
  const runs: RecordSlice[][] = []
  let previous: RecordSlice | undefined
  for (const slice of slices) {
    const follows = previous?.record === slice.record - 1 && previous.bytes.buffer === slice.bytes.buffer
    if (follows) runs.at(-1)?.push(slice)
    else runs.push([slice])
    previous = slice
  }
  return runs
}

function spanOf(run: readonly RecordSlice[]): Buffer {
  const first = (run[0] as RecordSlice).bytes
  const last = (run.at(-1) as RecordSlice).bytes
  return Buffer.from(first.buffer, first.byteOffset, last.byteOffset + last.length - first.byteOffset)
}

function checkCount(slice: RecordSlice, row: string[], columns: readonly string[]): ParsedSlice {
  const { record, line } = slice
  const cells = withoutEmptyTail(row, columns.length)
  if (cells.length === columns.length) return { parsed: { record, line, cells } }
  const remedy = 'check the quoting, and that no cell holds the delimiter or a line end without quotes'
  const found = `has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, the header has ${columns.length}`
  const issue = issueOf(slice, { code: 'cell-count', found, remedy })
  return { rejected: { record, line, cells, issues: [issue] } }
}

/** Many exporters end every record with a delimiter or two more than the header. */
function withoutEmptyTail(row: string[], count: number): string[] {
  let length = row.length
  while (length > count && row[length - 1] === '') length -= 1
  return length === row.length ? row : row.slice(0, length)
}

function unparsable(slice: RecordSlice, cause: Error | undefined): ParsedSlice {
  const { record, line, bytes } = slice
  const found = `cannot be parsed (${cause?.message ?? 'no record found'})`
  const issue = issueOf(slice, { code: 'not-parsable', found, remedy: 'check its quotes' })
  return { rejected: { record, line, cells: [bytes.toString('utf8')], issues: [issue] } }
}

export interface Header {
  /** Trimmed. Of columns with one name the first counts: look them up with `indexOf`. */
  columns: readonly string[]
  warnings: readonly string[]
}

/** The columns of a CSV file, from its first record. Throws FileRefusedError when they are too many. */
export function columnsOf(first: RecordSlice, dialect: Dialect, name: string): Header {
  const width = new CellReader(dialect).count(first.bytes)
  if (width > columnsMax) throw tooManyColumns(name, width)
  const { header } = dialect
  if (header === undefined) return readHeader(first, dialect)
  const columns = header === 'none' ? Array.from({ length: width }, (_, index) => String(index + 1)) : header
  return { columns, warnings: [] }
}

function tooManyColumns(name: string, width: number): Error {
  return fileRefusal({
    name,
    code: 'too-many-columns',
    found: `the first record has ${width} cells, more than ${columnsMax}`,
    hint: 'Check that the file has line ends, and that format.delimiter is right',
  })
}

/** Reads the column names; empty names at the end come from trailing delimiters and are no columns. */
export function readHeader(slice: RecordSlice, dialect: Dialect): Header {
  const width = new CellReader(dialect).count(slice.bytes)
  const [result] = parseCsv(
    [slice],
    dialect,
    Array.from({ length: width }, () => ''),
  )
  const cells = result === undefined ? [] : 'parsed' in result ? result.parsed.cells : result.rejected.cells
  const columns = cells.map((cell) => String(cell).trim())
  while (columns.length > 1 && columns.at(-1) === '') columns.pop()
  const repeated = new Set(columns.filter((name, index) => name !== '' && columns.indexOf(name) !== index))
  const warnings = [...repeated].map(
    (name) => `the header names column "${name}" more than once: the first one is read`,
  )
  return { columns, warnings }
}
