import { CellReader } from './cells.ts'
import type { Dialect, RecordSlice } from './model.ts'
import { parseCsv } from './parse-csv.ts'

export interface Header {
  /** Trimmed. Of columns with one name the first counts: look them up with `indexOf`. */
  columns: readonly string[]
  warnings: readonly string[]
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
