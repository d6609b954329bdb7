import type { FieldRule } from '../config/rule-model.ts'
import type { ParsedRecord } from '../records/model.ts'
import { type Compute, nothingSaid } from './compiled-rule.ts'
import { Problem } from './problem.ts'
import type { RecordNotes } from './record-notes.ts'

export interface Folding {
  rows: FieldRule['rows']
  /** The row that gives the price is noted: other amounts may have to be of the same one. */
  isPrice?: boolean
  /** The cells of a row as the rule sees them. */
  join?: (cells: readonly unknown[], ofRecord: readonly unknown[]) => readonly unknown[]
}

type Row = Pick<ParsedRecord, 'cells' | 'line'>
type Holds = (cells: readonly unknown[]) => boolean

/** Computes a field from the rows of a record that count; a record of one row is its own only row. */
export function foldRows(
  compute: Compute,
  { rows, isPrice = false, join = (own) => own }: Folding,
  holds: Holds | undefined,
): Compute {
  return (cells, notes) => {
    if (notes.rows === undefined)
      return holds && !holds(cells) ? undefined : compute(join(cells, cells), notes)
    const chosen = holds ? notes.rows.filter((row) => holds(row.cells)) : notes.rows
    const read = (row: Row | undefined) =>
      row && computeRow(compute, { line: row.line, cells: join(row.cells, cells) }, notes)
    if (rows === 'first' || rows === 'last') {
      const row = chosen.at(rows === 'first' ? 0 : -1)
      if (isPrice) notes.priceRow = row
      return read(row)
    }
    if (rows === 'price' && notes.priceRow !== undefined)
      return read(chosen.find((row) => row === notes.priceRow))
    const found: { row: Row; value: unknown }[] = []
    for (const row of chosen) {
      const value = read(row)
      if (value === nothingSaid || value instanceof Problem) return value
      if (value === undefined) continue
      found.push({ row, value })
      if (rows === undefined || rows === 'price') break
    }
    if (isPrice) notes.priceRow = null
    if (found.length === 0) return undefined
    const value = fold(
      found.map((one) => one.value),
      rows,
    )
    if (isPrice) notes.priceRow = found.find((one) => one.value === value)?.row
    return value
  }
}

/** A problem says in which row it is: the record begins somewhere else. */
function computeRow(compute: Compute, row: Row, notes: RecordNotes): unknown {
  const value = compute(row.cells, notes)
  if (!(value instanceof Problem)) return value
  return value.with({ text: `${value.text} (row at line ${row.line})` })
}

function fold(values: readonly unknown[], rows: FieldRule['rows']): unknown {
  switch (rows) {
    case 'all':
      return [...new Set(values.flat())]
    case 'min':
      return values.reduce((one, other) => (Number(other) < Number(one) ? other : one))
    case 'max':
      return values.reduce((one, other) => (Number(other) > Number(one) ? other : one))
    case 'sum':
      return sum(values)
    case 'any':
      return values.includes('InStock') ? 'InStock' : values[0]
    default:
      return values[0]
  }
}

/** Without the noise that adding binary fractions leaves behind the decimals (0.1 + 0.2). */
function sum(values: readonly unknown[]): unknown {
  const total = Number(values.reduce<number>((before, value) => before + Number(value), 0).toFixed(6))
  return typeof values[0] === 'string' ? String(total) : total
}
