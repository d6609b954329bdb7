import { contentOf, type Reading } from './cell-content.ts'
import type { Columns } from './compiled-rule.ts'
import { cellAt, findPlaces } from './free-column.ts'
import { Problem, type RecordNotes } from './problem.ts'

/** A number as it was read, and what it was read from. */
interface Found {
  taken: unknown
  value: unknown
}

/** Of a number that is above its limit undefined: it does not count. Other numbers stay; a limit that is none is a `Problem`. */
export type HoldBelow = (found: Found, cells: readonly unknown[], notes: RecordNotes) => unknown

/** Reads what was taken out of a cell as the rule reads its own cells. */
type Read = (taken: unknown, notes: RecordNotes) => unknown

export interface Below {
  /** That with the limit, as the rule names it. */
  columns: readonly string[]
  bind(columns: Columns, read: Read): HoldBelow
}

/** Holds the numbers of a rule against that of a column, which may be one of its own. */
export function compileBelow(column: string, reading: Reading): Below {
  return {
    columns: [column],
    bind: (columns, read) => {
      const places = findPlaces(columns, column)
      return ({ taken, value }, cells, notes) => {
        // What the cell warns of is said where it is the value.
        const own = { ...notes, warnings: [] }
        const limitText = contentOf(cellAt(cells, places), reading, own)
        // The limit itself is the usual case: it need not be read twice.
        if (limitText === undefined || limitText === taken) return value
        const limit = read(limitText, own)
        if (limit instanceof Problem) return limit
        return limit !== undefined && Number(value) > Number(limit) ? undefined : value
      }
    },
  }
}
