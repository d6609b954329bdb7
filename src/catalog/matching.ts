import type { RE2JS } from 're2js'
import type { FieldRule } from '../config/rule-model.ts'
import { rejectColumns } from '../records/reject-columns.ts'
import { contentOf, type Reading } from './cell-content.ts'
import type { CompiledRule, Compute } from './compiled-rule.ts'
import { dropEntry, type EntriesFound, toEntries } from './entries.ts'
import { htmlToText } from './html-text.ts'
import { compileRegex } from './pattern.ts'
import { Problem } from './problem.ts'
import { textOf } from './text-of.ts'

const group = 'name'
/** Keys of objects whose names are remembered: a feed that makes up keys must not fill the memory. */
const namesMax = 10_000
const aboutRejects: ReadonlySet<string> = new Set(rejectColumns)

interface Context {
  describe: (value: unknown) => string
  problems: string[]
}

/** One entry for each column, or key of the record, whose name matches. */
export function compileMatching(
  regex: string,
  rule: FieldRule,
  { describe, problems }: Context,
): CompiledRule | undefined {
  const expression = compileRegex(regex, problems)
  if (expression && expression.namedGroups()[group] === undefined) {
    problems.push(
      `matching: ${regex} has no group called name; write (?<name>…) around the name of the entry`,
    )
    return undefined
  }
  if (!expression) return undefined
  const reading: Reading = { trim: rule.trim !== false, shape: 'scalar', describe }
  const compute = (columns: readonly (readonly [key: string, place: number])[], keyOf: KeyOf): Compute => {
    return (cells, notes) => {
      const keeps = rule.empty === 'keep'
      // A record, or a file, may leave out what it says nothing about.
      if (keeps) notes.keepsOthers = true
      // A record of XML or JSON may leave out what is empty.
      const found: EntriesFound = { values: [], cleared: notes.source !== undefined && !keeps }
      const add = (key: string, cell: unknown): Problem | undefined => {
        const content = contentOf(cell, reading, notes)
        const text = textOf(content)
        if (text !== undefined) {
          const plain = rule.html ? htmlToText(text) : text
          if (plain instanceof Problem) return plain.below(`.${key}`)
          found.values.push([key, plain])
        } else if (content !== undefined)
          return new Problem('not-text', notText(describe(content)), `.${key}`)
        else if (!keeps) dropEntry(key, found, notes)
        return undefined
      }
      const named = notes.source
        ? Object.entries(notes.source).map(([name, cell]) => [keyOf(name), cell] as const)
        : columns.map(([key, place]) => [key, cells[place]] as const)
      for (const [key, cell] of named) {
        const problem = key === undefined ? undefined : add(key, cell)
        if (problem) return problem
      }
      return toEntries(found, notes, { isSorted: false })
    }
  }
  return {
    columns: [],
    valueColumns: [],
    missing: () => [],
    bind: ({ names }) => {
      const keyOf = rememberKeys(expression)
      const columns = names.flatMap((name, place) => {
        const key = keyOf(name)
        return key === undefined ? [] : [[key, place] as const]
      })
      return compute(columns, keyOf)
    },
    timed: false,
  }
}

function notText(content: string) {
  return { found: `found ${content}, expected a text`, remedy: 'give it as a string' }
}

type KeyOf = (name: string) => string | undefined

function rememberKeys(expression: RE2JS): KeyOf {
  const known = new Map<string, string | undefined>()
  return (name) => {
    // Of a file of rejected records: about the record, and no part of it.
    if (aboutRejects.has(name)) return undefined
    if (known.has(name)) return known.get(name)
    const matcher = expression.matcher(name)
    const key = matcher.find() ? matcher.group(group)?.trim() || undefined : undefined
    if (known.size < namesMax) known.set(name, key)
    return key
  }
}
