import type { FieldKind } from '../api/contract/kinds.ts'
import type { FieldRule } from '../config/rule-model.ts'
import type { ParsedRecord } from '../records/model.ts'
import { type Compute, nothingSaid } from './compiled-rule.ts'
import { Problem } from './problem.ts'
import type { RecordNotes } from './record-notes.ts'

export interface Folding {
  rows: FieldRule['rows']
  kind?: FieldKind
  /** The cells of a row as the rule sees them. */
  join?: (cells: readonly unknown[], ofRecord: readonly unknown[]) => readonly unknown[]
}

type Row = Pick<ParsedRecord, 'cells' | 'line'>
type Holds = (cells: readonly unknown[]) => boolean

/** Computes a field from the rows of a record that count; a record of one row is its own only row. */
export function foldRows(
  compute: Compute,
  { rows, join = (own) => own }: Folding,
  holds: Holds | undefined,
): Compute {
  return (cells, notes) => {
    if (notes.rows === undefined)
      return holds && !holds(cells) ? undefined : compute(join(cells, cells), notes)
    const chosen = holds ? notes.rows.filter((row) => holds(row.cells)) : notes.rows
    const read = (row: Row | undefined) =>
      row && computeRow(compute, { line: row.line, cells: join(row.cells, cells) }, notes)
    if (rows === 'first') return read(chosen[0])
    if (rows === 'last') return read(chosen.at(-1))
    const values: unknown[] = []
    for (const row of chosen) {
      const value = read(row)
      if (value === nothingSaid || value instanceof Problem) return value
      if (value === undefined) continue
      if (rows === undefined) return value
      values.push(value)
    }
    return values.length === 0 ? undefined : fold(values, rows)
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
