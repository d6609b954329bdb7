import type { FieldRule } from '../config/model.ts'
import type { PlaceOf } from './compiled-rule.ts'
import { Problem } from './problem.ts'
import { fillTemplate, parseTemplate, type Template } from './template.ts'
import { textOf } from './text-of.ts'

type Cells = readonly unknown[]

/** Where a field's raw value comes from, before the columns have places. */
export interface Source {
  columns: readonly string[]
  /** Of `any` one column must exist, of `all` each. */
  need: 'any' | 'all'
  /** Answers undefined for empty. A column without a place counts as empty. */
  bind(placeOf: PlaceOf): (cells: Cells) => unknown
}

export function compileSource(
  from: FieldRule['from'],
  trim: boolean,
  problems: string[],
): Source | undefined {
  switch (from.kind) {
    case 'columns':
      return from.columns.length > 0
        ? columnsSource(from.columns, trim)
        : fail(problems, 'no column is named')
    case 'value': {
      const { value } = from
      if (value === '' || value === null || value === undefined)
        return fail(problems, 'value: a constant cannot be empty')
      return { columns: [], need: 'all', bind: () => () => value }
    }
    case 'template': {
      const template = parseTemplate(from.template)
      if (typeof template === 'string') return fail(problems, `template: ${template}`)
      return templateSource(template, trim)
    }
    case 'entries':
      return fail(problems, 'entries cannot stand inside an entry')
  }
}

/** Mapped columns whose absence leaves the rule without what it needs. */
export function missingOf({ columns, need }: Source, placeOf: PlaceOf): readonly string[] {
  const absent = columns.filter((column) => placeOf(column) === undefined)
  return need === 'any' && absent.length < columns.length ? [] : absent
}

function columnsSource(columns: readonly string[], trim: boolean): Source {
  return {
    columns,
    need: 'any',
    bind: (placeOf) => {
      const places = columns.map(placeOf).filter((place) => place !== undefined)
      const [only] = places
      if (only === undefined) return () => undefined
      if (places.length === 1) return (cells) => contentOf(cells[only], trim)
      return (cells) => {
        for (const place of places) {
          const content = contentOf(cells[place], trim)
          if (content !== undefined) return content
        }
        return undefined
      }
    },
  }
}

function templateSource(template: Template, trim: boolean): Source {
  return {
    columns: [...new Set(template.names)],
    need: 'all',
    bind: (placeOf) => {
      const places = template.names.map(placeOf)
      return (cells) => {
        let odd: string | undefined
        const text = fillTemplate(template, (index) => {
          const place = places[index]
          const content = place === undefined ? undefined : contentOf(cells[place], trim)
          if (content === undefined) return ''
          const part = textOf(content)
          if (part === undefined) odd = template.names[index]
          return part ?? ''
        })
        if (odd === undefined) return text
        return new Problem(
          'not-text',
          `found no plain text in column "${odd}", expected one for the template; give it as a string`,
        )
      }
    },
  }
}

/** Null, a missing key, and text of white space only (unless it is kept) are empty. */
function contentOf(cell: unknown, trim: boolean): unknown {
  if (typeof cell !== 'string') return cell ?? undefined
  const text = trim ? cell.trim() : cell
  return text === '' ? undefined : text
}

function fail(problems: string[], problem: string): undefined {
  problems.push(problem)
  return undefined
}
