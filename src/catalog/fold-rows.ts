import type { FieldRule } from '../config/rule-model.ts'
import type { ParsedRecord } from '../records/model.ts'
import { type Compute, nothingSaid } from './compiled-rule.ts'
import { Problem, type RecordNotes } from './problem.ts'
import type { ChosenRows } from './where.ts'

export interface Folding {
  rows: FieldRule['rows']
  /** The row that gives the price is noted: other amounts may have to be of the same one. */
  isPrice?: boolean
  /** The cells of a row as the rule sees them. */
  join?: (cells: readonly unknown[], ofRecord: readonly unknown[]) => readonly unknown[]
  /** Of those cells the ones that give the value: in a record of one row, elements of a list there count as rows do. */
  places?: readonly number[]
}

type Row = Pick<ParsedRecord, 'cells' | 'line'> & { element?: number }
/** Computes a field from the rows of a record that count; a record of one row is its own only row. */
export function foldRows(
  compute: Compute,
  { rows, isPrice = false, join = (own) => own, places = [] }: Folding,
  { holds, prefers }: ChosenRows,
): Compute {
  const ofOne = (cells: readonly unknown[], notes: RecordNotes): unknown => {
    const own = join(cells, cells)
    if (holds && !holds(own)) return undefined
    const elements = rows === undefined || rows === 'all' ? undefined : elementRows(own, places)
    return elements ? ofRows(elements, (row) => computeRow(compute, row, notes), notes) : compute(own, notes)
  }
  const ofRows = (chosen: readonly Row[], compute: (row: Row) => unknown, notes: RecordNotes): unknown => {
    const read = (row: Row | undefined) => row && compute(row)
    if (rows === 'first' || rows === 'last') {
      const row = chosen.at(rows === 'first' ? 0 : -1)
      if (isPrice) notes.priceRow = row
      return read(row)
    }
    if (rows === 'price' && notes.priceRow !== undefined)
      return read(chosen.find((row) => isSame(row, notes.priceRow)))
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
  const computeOf = (row: Row, cells: readonly unknown[], notes: RecordNotes) =>
    computeRow(compute, { line: row.line, cells: join(row.cells, cells) }, notes)
  return (cells, notes) => {
    if (notes.rows === undefined) return ofOne(cells, notes)
    const held = holds ? notes.rows.filter((row) => holds(join(row.cells, cells))) : notes.rows
    const preferred = prefers ? held.filter((row) => prefers(join(row.cells, cells))) : []
    return ofRows(preferred.length > 0 ? preferred : held, (row) => computeOf(row, cells, notes), notes)
  }
}

/** One for each element of the lists at these places; undefined where there is none, or where they are not side by side. */
function elementRows(cells: readonly unknown[], places: readonly number[]): Row[] | undefined {
  const lists = places.flatMap((place) =>
    Array.isArray(cells[place]) ? [[place, cells[place]] as const] : [],
  )
  const length = lists[0]?.[1].length
  if (length === undefined || lists.some(([, list]) => list.length !== length)) return undefined
  return Array.from({ length }, (_, element) => {
    const own = [...cells]
    for (const [place, list] of lists) own[place] = list[element]
    return { cells: own, line: 0, element }
  })
}

function isSame(row: Row, other: Row | null | undefined): boolean {
  return row === other || (row.element !== undefined && row.element === other?.element)
}

/** A problem says in which row it is: the record begins somewhere else. */
function computeRow(compute: Compute, row: Row, notes: RecordNotes): unknown {
  const value = compute(row.cells, notes)
  if (!(value instanceof Problem)) return value
  const place = row.element === undefined ? `row at line ${row.line}` : `element ${row.element + 1}`
  return value.with({ text: `${value.text} (${place})` })
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
