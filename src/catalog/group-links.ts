import type { GroupConfig } from '../config/model.ts'
import type { IdReader } from '../records/judge-model.ts'
import type { NamedColumns } from './aliases.ts'
import { compilePattern } from './pattern.ts'
import { fillTemplate, parseTemplate, type Template } from './template.ts'
import { textOf } from './text-of.ts'
import { compileWhere } from './where.ts'

type PlaceOf = (column: string) => number | undefined
type Cells = readonly unknown[]

/** What a feed says of rows that are one product, before the columns of a file are known. */
export interface CompiledGroup {
  columns: readonly string[]
  /** Columns without which rows of one product would be taken for products. */
  missing(placeOf: PlaceOf): readonly string[]
  /** The reader of ids that reads links too. */
  bind(idReader: IdReader, columns: NamedColumns): IdReader
}

/** What is wrong with `group` whatever a file holds; empty when nothing is. */
export function groupProblems(group: GroupConfig): string[] {
  const problems: string[] = []
  compileGroup(group, problems)
  return problems
}

/** Adds to `problems` what is wrong whatever a file holds, and answers undefined then. */
export function compileGroup(group: GroupConfig, problems: string[]): CompiledGroup | undefined {
  const known = problems.length
  const isNamed = group.by === 'parent' || group.by === 'members'
  const names = isNamed ? group.names.map((text) => nameTemplate(text, problems)) : []
  const parent = group.by === 'parent' ? [nameTemplate(group.parent, problems)] : []
  const listed = group.by === 'members' ? [group.column] : []
  const membersOf = group.by === 'members' ? compileMembers(group, problems) : undefined
  const above = group.by === 'above' ? compileWhere(group.where) : undefined
  if (problems.length > known) return undefined
  const needed = [...parent.flatMap((template) => template.names), ...listed, ...(above?.columns ?? [])]
  const columns = [...new Set([...needed, ...names.flatMap((template) => template.names)])]
  return {
    columns,
    missing: (placeOf) =>
      group.by !== 'id' && group.optional ? [] : needed.filter((column) => placeOf(column) === undefined),
    bind(idReader, file) {
      // The cells of the id keep their places: the others come behind them.
      const own = file.pick(columns)
      const ownCells = (cells: Cells) => own.columns.fill(cells.slice(idReader.indices.length))
      const contentOf = (cells: Cells, column: string) => cells[own.columns.placeOf(column) ?? -1]
      const textIn = (cells: Cells, template: Template) =>
        fillTemplate(template, (index) => textAt(cells, template.names[index] as string))?.trim()
      const textAt = (cells: Cells, column: string) => (textOf(contentOf(cells, column)) ?? '').trim()
      const ownName = names.length === 0 && isNamed
      const continues = above?.bind(own.columns)
      return {
        indices: [...idReader.indices, ...own.indices],
        read: (cells) => idReader.read(cells),
        links: {
          by: group.by,
          headColumns: idReader.indices,
          column: isNamed ? needed[0] : undefined,
          read: (all) => {
            const cells = ownCells(all)
            const called = ownName ? [idReader.read(all)] : names.map((template) => textIn(cells, template))
            return {
              names: called.filter((name) => name !== undefined),
              parent: parent[0] && textIn(cells, parent[0]),
              members: membersOf ? membersOf(contentOf(cells, listed[0] as string)) : [],
              ...(continues ? { continues: continues(cells) } : {}),
            }
          },
        },
      }
    },
  }
}

/** A text without a placeholder is the name of a column. */
function nameTemplate(text: string, problems: string[]): Template {
  const template = parseTemplate(text)
  if (typeof template === 'string') {
    problems.push(`${text}: ${template}`)
    return { literals: [''], names: [] }
  }
  return template.names.length > 0 ? template : { literals: ['', ''], names: [text] }
}

function compileMembers({ split, pattern }: Extract<GroupConfig, { by: 'members' }>, problems: string[]) {
  const describe = (value: unknown) => String(value)
  const extract =
    pattern === undefined
      ? undefined
      : compilePattern({ regex: pattern, result: undefined }, { describe, problems })
  const memberOf = (text: string) => {
    const found = extract ? extract(text) : text
    return typeof found === 'string' ? found.trim() : ''
  }
  return (content: unknown): string[] => {
    const parts = Array.isArray(content) ? content.map(textOf) : textOf(content)?.split(split)
    return (parts ?? []).map((part) => memberOf(part?.trim() ?? '')).filter((member) => member !== '')
  }
}
