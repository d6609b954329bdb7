import type { FieldRule } from '../config/rule-model.ts'
import { contentOf, type Reading } from './cell-content.ts'
import type { Columns, Compute } from './compiled-rule.ts'
import { Problem } from './problem.ts'
import { fillTemplate, parseTemplate, type Template } from './template.ts'
import { textOf } from './text-of.ts'

/** Where a field's raw value comes from, before the columns have places. */
export interface Source {
  columns: readonly string[]
  /** Of `any` one column must exist, of `all` each. */
  need: 'any' | 'all'
  /** Answers undefined for empty. A column without a place counts as empty. */
  bind(columns: Columns): Compute
}

export function compileSource(
  from: FieldRule['from'],
  reading: Reading,
  problems: string[],
): Source | undefined {
  switch (from.kind) {
    case 'columns':
      return from.columns.length > 0
        ? columnsSource(from.columns, reading)
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
      return templateSource(template, reading)
    }
    default:
      return fail(problems, `${from.kind} cannot stand here: one value is wanted`)
  }
}

/** Mapped columns whose absence leaves the rule without what it needs. */
export function missingOf({ columns, need }: Source, { placeOf }: Columns): readonly string[] {
  const absent = columns.filter((column) => placeOf(column) === undefined)
  return need === 'any' && absent.length < columns.length ? [] : absent
}

function columnsSource(columns: readonly string[], reading: Reading): Source {
  return {
    columns,
    need: 'any',
    bind: ({ placeOf }) => {
      const places = columns.map(placeOf).filter((place) => place !== undefined)
      const [only] = places
      if (only === undefined) return () => undefined
      if (places.length === 1) return (cells, notes) => contentOf(cells[only], reading, notes)
      return (cells, notes) => {
        for (const place of places) {
          const content = contentOf(cells[place], reading, notes)
          if (content !== undefined) return content
        }
        return undefined
      }
    },
  }
}

export function templateSource(template: Template, reading: Reading): Source {
  const scalar: Reading = { ...reading, shape: 'scalar' }
  return {
    columns: [...new Set(template.names)],
    need: 'all',
    bind: ({ placeOf }) => {
      const places = template.names.map(placeOf)
      return (cells, notes) => {
        let odd: string | undefined
        const text = fillTemplate(template, (index) => {
          const place = places[index]
          const content = place === undefined ? undefined : contentOf(cells[place], scalar, notes)
          if (content === undefined) return ''
          const part = textOf(content)
          if (part === undefined) odd = template.names[index]
          return part ?? ''
        })
        if (odd === undefined) return text
        const found = `found no plain text in column "${odd}", expected one for the template`
        return new Problem('not-text', { found, remedy: 'give it as a string' })
      }
    },
  }
}

function fail(problems: string[], problem: string): undefined {
  problems.push(problem)
  return undefined
}
