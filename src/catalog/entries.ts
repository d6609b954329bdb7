import type { EmptyPolicy, FieldRule } from '../config/model.ts'
import { type CompiledRule, type Compute, nothingSaid } from './compiled-rule.ts'
import { Problem } from './problem.ts'
import { sortedByKey } from './wire-order.ts'

interface Context {
  /** Of the field; an entry may have its own. */
  empty: EmptyPolicy | undefined
  problems: string[]
  compile: (rule: FieldRule, problems: string[]) => CompiledRule | undefined
}

interface Entry<Ready> {
  key: string
  keeps: boolean
  ready: Ready
}

/**
 * A map field of one rule per key. An empty entry goes the way of `empty`, its own or the field's: it leaves the map,
 * or its key is noted as "nothing said", so that merging keeps what the feed said before.
 */
export function compileEntries(
  entries: Readonly<Record<string, FieldRule>>,
  { empty, problems, compile }: Context,
): CompiledRule | undefined {
  const compiled: Entry<CompiledRule>[] = []
  // Sorted here once, as wire documents want them, and not in every record.
  for (const [key, entry] of Object.entries(sortedByKey(entries))) {
    const found: string[] = []
    const ready = compile(entry, found)
    problems.push(...found.map((problem) => `entry ${key}: ${problem}`))
    if (ready) compiled.push({ key, keeps: (entry.empty ?? empty) === 'keep', ready })
  }
  if (Object.keys(entries).length === 0) problems.push('entries: no entry is given')
  if (compiled.length === 0) return undefined
  return {
    columns: [...new Set(compiled.flatMap(({ ready }) => ready.columns))],
    missing: (placeOf) => compiled.flatMap(({ ready }) => ready.missing(placeOf)),
    bind: (placeOf) => {
      return computeEntries(compiled.map((entry) => ({ ...entry, ready: entry.ready.bind(placeOf) })))
    },
  }
}

function computeEntries(entries: readonly Entry<Compute>[]): Compute {
  return (cells, notes) => {
    const values: [string, unknown][] = []
    const kept: string[] = []
    for (const { key, keeps, ready } of entries) {
      const value = ready(cells, notes)
      if (value instanceof Problem) return new Problem(value.code, value.text, `.${key}`)
      if (value === nothingSaid || (value === undefined && keeps)) kept.push(key)
      else if (value !== undefined) values.push([key, value])
    }
    if (kept.length === entries.length) return nothingSaid
    if (kept.length === 0 && values.length === 0) return undefined
    notes.keepEntries.push(...kept)
    return Object.fromEntries(values)
  }
}
