import { nothingSaid } from './compiled-rule.ts'
import { Problem, type RecordNotes } from './problem.ts'
import { sortedByKey } from './wire-order.ts'

/** What the rules of a map field have found in one record. */
export interface EntriesFound {
  values: (readonly [string, unknown])[]
  /** Keys about which the record says nothing. */
  kept: string[]
  /** At least one entry is empty and goes. */
  cleared: boolean
}

/** The map in canonical order; of entries with one key the first counts. */
export function toEntries(
  { values, kept, cleared }: EntriesFound,
  notes: RecordNotes,
  { isSorted }: { isSorted: boolean },
): unknown {
  if (values.length === 0 && !cleared) return nothingSaid
  if (values.length === 0 && kept.length === 0) return undefined
  notes.keepEntries.push(...kept)
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
