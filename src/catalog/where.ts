import type { CellCondition, FieldRule } from '../config/rule-model.ts'
import { contentOf, type Reading } from './cell-content.ts'
import type { Columns } from './compiled-rule.ts'
import { openNotes } from './record-notes.ts'
import { textOf } from './text-of.ts'

export interface Where {
  columns: readonly string[]
  /** A column without a place counts as empty. */
  bind(columns: Columns): (cells: readonly unknown[]) => boolean
}

const reading: Reading = { trim: true, shape: 'scalar', describe: () => '' }

/** Which rows of a record, or members of a list, count. */
export function compileWhere(where: NonNullable<FieldRule['where']>): Where {
  const conditions = Object.entries(where)
  return {
    columns: conditions.map(([column]) => column),
    bind: ({ placeOf }) => {
      const places = conditions.map(([column, condition]) => ({ place: placeOf(column), condition }))
      return (cells) =>
        places.every(({ place, condition }) =>
          holds(place === undefined ? undefined : cells[place], condition),
        )
    },
  }
}

function holds(cell: unknown, { values, not }: CellCondition): boolean {
  const text =
    typeof cell === 'string' ? cell.trim() : textOf(contentOf(cell, reading, openNotes(undefined, 0)))
  return values.includes(text ?? '') !== not
}
