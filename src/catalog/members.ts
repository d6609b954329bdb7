import type { FieldRule } from '../config/rule-model.ts'
import { parsedOf } from '../lib/parsed-of.ts'
import { isJsonObject, type JsonObject, lookUp, lookUpElement } from '../records/look-up.ts'
import type { ParsedRecord } from '../records/model.ts'
import { type Columns, columnsOf } from './compiled-rule.ts'
import { Problem, type RecordNotes } from './problem.ts'

/** What `each` says for the rows of a record. */
export const eachRow = 'rows'

/** A row of a record or an object of a list in it, as the rules of members see it. */
export interface Member {
  cells: readonly unknown[]
  source: JsonObject | undefined
  /** For messages: where it stands. */
  place: string
}

/** How the members of a record are found. */
export interface MemberReader {
  /** What their rules see. */
  columns: Columns
  /** Answers undefined when there is no list. */
  read(cells: readonly unknown[], notes: RecordNotes): readonly Member[] | Problem | undefined
}

type Row = Pick<ParsedRecord, 'cells' | 'line'> & { source?: ParsedRecord['source'] | undefined }
type Describe = (value: unknown) => string

/** `used` are the columns that the rules of the members name. */
export function openMembers(
  { each }: Extract<FieldRule['from'], { kind: 'each' }>,
  columns: Columns,
  { used, describe }: { used: readonly string[]; describe: Describe },
): MemberReader {
  if (each === eachRow) return rowMembers(columns, used)
  const outer = used.filter((name) => name.startsWith(outerMark))
  const outerPlaces = outer.map((name) => columns.placeOf(name.slice(outerMark.length)))
  const outerCells = (cells: readonly unknown[]) =>
    outerPlaces.map((place) => (place === undefined ? undefined : cells[place]))
  return listMembers(columns, each, { used, outer, outerCells, describe })
}

function rowMembers(columns: Columns, used: readonly string[]): MemberReader {
  const view = openRowView(columns, used)
  const toMember = (row: Row, cells: readonly unknown[]): Member => ({
    cells: view.join(row.cells, cells),
    source: isJsonObject(row.source) ? row.source : undefined,
    place: ` (row at line ${row.line})`,
  })
  return {
    columns: view.columns,
    read: (cells, notes) =>
      notes.rows?.map((row) => toMember(row, cells)) ?? [
        { ...toMember({ cells, line: 0, source: notes.source }, cells), place: '' },
      ],
  }
}

interface ListParts {
  used: readonly string[]
  outer: readonly string[]
  outerCells: (cells: readonly unknown[]) => unknown[]
  describe: Describe
}

/** A member of a list has the columns that the rules name, and behind them those of the record. */
function listMembers(
  columns: Columns,
  each: string,
  { used, outer, outerCells, describe }: ListParts,
): MemberReader {
  const own = used.filter((name) => !name.startsWith(outerMark))
  const place = columns.placeOf(each)
  const name = place === undefined ? each : (columns.names[place] ?? each)
  return {
    columns: columnsOf([...own, ...outer]),
    read: (cells, notes) => {
      const cell = place === undefined ? undefined : cells[place]
      const list = listOf(elementsOf(cell, name, notes), describe)
      if (list === undefined || list instanceof Problem) return list
      const further = outerCells(cells)
      return list.map((member, index) => ({
        cells: [...own.map((name) => lookUp(member, name)), ...further],
        source: member,
        place: ` (member ${index + 1})`,
      }))
    },
  }
}

/** The cell holds only the texts of XML elements that have attributes: their objects stand in the record itself. */
function elementsOf(cell: unknown, name: string, { source, rows }: RecordNotes): unknown {
  const isRecord = source !== undefined && rows === undefined
  return cell === undefined || !isRecord ? cell : (lookUpElement(source, name) ?? cell)
}

/** One object stands for a list of one: XML files write an element as often as it is there. */
function listOf(cell: unknown, describe: Describe): readonly JsonObject[] | Problem | undefined {
  if (typeof cell === 'string' && cell.trim() === '') return undefined
  const parsed = typeof cell === 'string' ? parsedOf(cell) : cell
  const value = parsed === undefined ? cell : parsed
  if (value === undefined || value === null) return undefined
  const list = Array.isArray(value) ? value : [value]
  const odd = list.find((member) => !isJsonObject(member))
  if (odd === undefined) return list
  const found = `found ${describe(odd)}, expected a list of objects`
  return new Problem('not-objects', { found, remedy: 'give one, or take another column' })
}

/** Before the name of a column of the record, in a rule that is applied to its rows or members. */
export const outerMark = '../'

export function withoutMark(name: string): string {
  return name.startsWith(outerMark) ? name.slice(outerMark.length) : name
}

/** The columns of a row, and behind them those of its record that a rule names. */
interface RowView {
  columns: Columns
  join(cells: readonly unknown[], ofRecord: readonly unknown[]): readonly unknown[]
}

/** `used`: all names in the rule. */
export function openRowView({ names, placeOf }: Columns, used: readonly string[]): RowView {
  const outer = used.filter((name) => name.startsWith(outerMark))
  if (outer.length === 0) return { columns: { names, placeOf }, join: (cells) => cells }
  const places = outer.map((name) => placeOf(withoutMark(name)))
  const present = outer.filter((_, index) => places[index] !== undefined)
  const further = columnsOf(present)
  const sources = places.filter((place) => place !== undefined)
  return {
    columns: {
      names: [...names, ...present],
      placeOf: (name) => {
        const place = further.placeOf(name)
        return place === undefined ? placeOf(name) : names.length + place
      },
    },
    join: (cells, ofRecord) => [
      ...Array.from(names, (_, place) => cells[place]),
      ...sources.map((place) => ofRecord[place]),
    ],
  }
}
