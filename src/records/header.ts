import { CellReader } from './cells.ts'
import { columnsMax } from './limits.ts'
import type { Dialect, RecordSlice } from './model.ts'
import { parseCsv } from './parse-csv.ts'
import { fileRefusal } from './refusal.ts'

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
