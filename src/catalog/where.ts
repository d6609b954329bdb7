import type { CellCondition, FieldRule } from '../config/rule-model.ts'
import { contentOf, type Reading } from './cell-content.ts'
import type { Columns } from './compiled-rule.ts'
import { openNotes } from './problem.ts'
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

type Holds = (cells: readonly unknown[]) => boolean

/** Which rows of a record count: of those that `holds`, where there are some only those that it `prefers`. */
export interface ChosenRows {
  holds?: Holds | undefined
  prefers?: Holds | undefined
}

/** Undefined where all of them do. */
export function compileChosen({
  where,
  prefer,
}: FieldRule): { columns: readonly string[]; bind(columns: Columns): ChosenRows } | undefined {
  const [holds, prefers] = [where, prefer].map((conditions) => conditions && compileWhere(conditions))
  if (!holds && !prefers) return undefined
  return {
    columns: [...(holds?.columns ?? []), ...(prefers?.columns ?? [])],
    bind: (columns) => ({ holds: holds?.bind(columns), prefers: prefers?.bind(columns) }),
  }
}

function holds(cell: unknown, { values, not }: CellCondition): boolean {
  const text =
    typeof cell === 'string' ? cell.trim() : textOf(contentOf(cell, reading, openNotes(undefined, 0)))
  return values.includes(text ?? '') !== not
}
