import type { FieldRule } from '../config/rule-model.ts'
import { contentOf, type Reading } from './cell-content.ts'
import type { Columns, Compute } from './compiled-rule.ts'
import { isFree, namesOf } from './free-column.ts'
import { Problem } from './problem.ts'
import { fillTemplate, parseTemplate, type Template } from './template.ts'
import { textOf } from './text-of.ts'

/** Where a field's raw value comes from, before the columns have places. */
export interface Source {
  columns: readonly string[]
  /** Of `any` one column must exist, of `all` each. */
  need: 'any' | 'all'
  /** Of those of `all`, these may be absent. */
  free?: ReadonlySet<string>
  /**
   * All that may hold the value, in order: the first that comes to something counts. Each answers undefined for empty; a
   * column without a place is not among them.
   */
  bind(columns: Columns): readonly Compute[]
}

/** A template's one text; a column without a place counts as empty. */
export type TemplateSource = Omit<Source, 'bind'> & { bind(columns: Columns): Compute }

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
      return { columns: [], need: 'all', bind: () => [() => value] }
    }
    case 'template': {
      const template = parseTemplate(from.template)
      if (typeof template === 'string') return fail(problems, `template: ${template}`)
      const source = templateSource(template, reading)
      return { ...source, bind: (columns) => [source.bind(columns)] }
    }
    default:
      return fail(problems, `${from.kind} cannot stand here: one value is wanted`)
  }
}

/** Mapped columns whose absence leaves the rule without what it needs. */
export function missingOf({ columns, need, free }: Source, { placeOf }: Columns): readonly string[] {
  const absent = columns.filter((column) => placeOf(column) === undefined && !free?.has(column))
  return need === 'any' && absent.length < columns.length ? [] : absent
}

function columnsSource(columns: readonly string[], reading: Reading): Source {
  return {
    columns,
    need: 'any',
    bind: ({ placeOf }) =>
      columns
        .map(placeOf)
        .filter((place) => place !== undefined)
        .map((place) => (cells, notes) => contentOf(cells[place], reading, notes)),
  }
}

export function templateSource(template: Template, reading: Reading): TemplateSource {
  const scalar: Reading = { ...reading, shape: 'scalar' }
  const free = new Set(template.names.flatMap(freeNames))
  return {
    columns: [...new Set([...template.names, ...free])],
    need: 'all',
    free,
    bind: ({ placeOf }) => {
      const places = template.names.map((name) => [name, ...freeNames(name).slice(1)].map(placeOf))
      return (cells, notes) => {
        let odd: string | undefined
        const text = fillTemplate(template, (index) => {
          const [own, bare] = places[index] ?? []
          const isFree =
            free.has(template.names[index] ?? '') && (own === undefined || cells[own] === undefined)
          const place = isFree ? bare : own
          const content = place === undefined ? undefined : contentOf(cells[place], scalar, notes)
          if (content === undefined) return isFree ? null : ''
          const part = textOf(content)
          if (part === undefined) odd = template.names[index]
          return part ?? ''
        })
        // What is left out leaves no blanks behind.
        if (odd === undefined) return free.size > 0 && reading.trim ? text?.trim() || undefined : text
        return new Problem(
          'not-text',
          `found no plain text in column "${odd}", expected one for the template; give it as a string`,
        )
      }
    },
  }
}

/** Of a placeholder that may be empty. */
function freeNames(name: string): readonly string[] {
  return isFree(name) ? namesOf(name) : []
}

function fail(problems: string[], problem: string): undefined {
  problems.push(problem)
  return undefined
}
