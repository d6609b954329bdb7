import { type Columns, columnsOf } from './compiled-rule.ts'

/** Before the name of a column of the record, in a rule that is applied to its rows or members. */
export const outerMark = '../'

export function withoutMark(name: string): string {
  return name.startsWith(outerMark) ? name.slice(outerMark.length) : name
}

/** The columns of a row, and behind them those of its record that a rule names. */
export interface RowView {
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
