import { parse } from 'csv-parse/sync'
import { CellReader } from './cells.ts'
import { columnsMax } from './limits.ts'
import type { Dialect, ParsedRecord, RecordIssue, RecordSlice, RejectedRecord } from './model.ts'

/** The result for one slice. */
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

/** Parses slices of one chunk; neighbours are parsed in one go. */
export function parseCsv(
  slices: readonly RecordSlice[],
  dialect: Dialect,
  columns: readonly string[],
): ParsedSlice[] {
  const options = csvParseOptions(dialect)
  if (slices.some(({ bytes }) => mayBeTooWide(bytes)))
    return slices.map((slice) => parseAlone(slice, dialect, columns))
  return neighbours(slices).flatMap((run) => {
    const rows = parseRun(run, options)
    return run.map((slice, index) => {
      const row = rows[index]
      return row instanceof Error || row === undefined
        ? unparsable(slice, row)
        : checkCount(slice, row, columns)
    })
  })
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
  return row instanceof Error || row === undefined ? unparsable(slice, row) : checkCount(slice, row, columns)
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
  const issue: RecordIssue = {
    record,
    line,
    field: undefined,
    code: 'cell-count',
    message: `has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, the header has ${columns.length}: ${remedy}`,
    remedy,
    severity: 'reject',
  }
  return { rejected: { record, line, cells, issues: [issue] } }
}

/** Many exporters end every record with a delimiter or two more than the header. */
function withoutEmptyTail(row: string[], count: number): string[] {
  let length = row.length
  while (length > count && row[length - 1] === '') length -= 1
  return length === row.length ? row : row.slice(0, length)
}

function unparsable({ record, line, bytes }: RecordSlice, cause: Error | undefined): ParsedSlice {
  const remedy = 'check its quotes'
  const issue: RecordIssue = {
    record,
    line,
    field: undefined,
    code: 'not-parsable',
    message: `cannot be parsed (${cause?.message ?? 'no record found'}): ${remedy}`,
    remedy,
    severity: 'reject',
  }
  return { rejected: { record, line, cells: [bytes.toString('utf8')], issues: [issue] } }
}
