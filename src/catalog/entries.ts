import type { EmptyPolicy, FieldRule } from '../config/rule-model.ts'
import type { Reading } from './cell-content.ts'
import { type CompiledRule, type Compute, nothingSaid } from './compiled-rule.ts'
import { Problem, type RecordNotes } from './problem.ts'
import { type TemplateSource, templateSource } from './take.ts'
import { parseTemplate } from './template.ts'
import { sortedByKey } from './wire-order.ts'

interface Context {
  /** Of the field; an entry may have its own. */
  empty: EmptyPolicy | undefined
  problems: string[]
  compile: (rule: FieldRule, problems: string[]) => CompiledRule | undefined
}

interface Entry<Key, Ready> {
  key: Key
  keeps: boolean
  ready: Ready
}

type KeySource = string | TemplateSource

const reading: Reading = { trim: true, shape: 'scalar', describe: () => 'a name' }

/**
 * A map field of one rule per key; a key may be a template. An empty entry goes the way of `empty`, its own or the
 * field's: it leaves the map, or its key is noted as "nothing said", so that merging keeps what the feed said before.
 */
export function compileEntries(
  entries: Readonly<Record<string, FieldRule>>,
  { empty, problems, compile }: Context,
): CompiledRule | undefined {
  const compiled: Entry<KeySource, CompiledRule>[] = []
  // Sorted here once, as wire documents want them, and not in every record.
  for (const [key, entry] of Object.entries(sortedByKey(entries))) {
    const found: string[] = []
    const ready = compile(entry, found)
    const source = compileKey(key, found)
    problems.push(...found.map((problem) => `entry ${key}: ${problem}`))
    if (ready && source !== undefined) {
      compiled.push({ key: source, keeps: (entry.empty ?? empty) === 'keep', ready })
    }
  }
  if (Object.keys(entries).length === 0) problems.push('entries: no entry is given')
  if (compiled.length === 0) return undefined
  const keyColumns = compiled.flatMap(({ key }) => (typeof key === 'string' ? [] : key.columns))
  return {
    columns: [...new Set([...compiled.flatMap(({ ready }) => ready.columns), ...keyColumns])],
    valueColumns: [...new Set(compiled.flatMap(({ ready }) => ready.valueColumns))],
    missing: (columns) => compiled.flatMap(({ ready }) => ready.missing(columns)),
    bind: (columns) =>
      computeEntries(
        compiled.map(({ key, keeps, ready }) => ({
          key: typeof key === 'string' ? key : key.bind(columns),
          keeps,
          ready: ready.bind(columns),
        })),
      ),
    timed: compiled.some(({ ready }) => ready.timed),
  }
}

function compileKey(key: string, problems: string[]): KeySource | undefined {
  const template = parseTemplate(key)
  if (typeof template !== 'string')
    return template.names.length === 0 ? template.literals.join('') : templateSource(template, reading)
  problems.push(`its name: ${template}`)
  return undefined
}

function computeEntries(entries: readonly Entry<string | Compute, Compute>[]): Compute {
  const isSorted = entries.every(({ key }) => typeof key === 'string')
  return (cells, notes) => {
    const found: EntriesFound = { values: [], cleared: false }
    for (const { key: source, keeps, ready } of entries) {
      const key = typeof source === 'string' ? source : source(cells, notes)
      if (key instanceof Problem) return key
      if (typeof key !== 'string') {
        // Without a name there is nothing to set, and it is not known which entry it was.
        if (keeps) notes.keepsOthers = true
        else found.cleared = true
        continue
      }
      const value = ready(cells, notes)
      if (value instanceof Problem) return value.below(`.${key}`)
      if (value === nothingSaid || (value === undefined && keeps)) notes.keepEntries.push(key)
      else if (value === undefined) dropEntry(key, found, notes)
      else found.values.push([key, value])
    }
    return toEntries(found, notes, { isSorted })
  }
}

/** What the rules of a map field have found in one record. */
export interface EntriesFound {
  values: (readonly [string, unknown])[]
  /** At least one entry is empty and goes. */
  cleared: boolean
}

export function dropEntry(key: string, found: EntriesFound, { dropEntries }: RecordNotes): void {
  dropEntries.push(key)
  found.cleared = true
}

/** The map in canonical order; of entries with one key the first counts. */
export function toEntries(
  { values, cleared }: EntriesFound,
  notes: RecordNotes,
  { isSorted }: { isSorted: boolean },
): unknown {
  if (values.length === 0 && !cleared) return nothingSaid
  if (values.length === 0 && notes.keepEntries.length === 0 && !notes.keepsOthers) return undefined
  if (isSorted) return Object.fromEntries(values)
  const reserved = values.find(([key]) => key === '__proto__')
  if (reserved)
    return new Problem(
      'contract',
      { found: 'found a reserved name, expected an ordinary key', remedy: 'rename the key' },
      '.__proto__',
    )
  return sortedByKey(Object.fromEntries(values.toReversed()))
}
