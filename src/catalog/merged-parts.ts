import { type CompiledRule, nothingSaid } from './compiled-rule.ts'
import { Problem } from './problem.ts'
import { type EntriesFound, toEntries } from './to-entries.ts'
import { isJsonObject } from './wire-order.ts'

/** A map field of several rules: of entries with one key the first counts. */
export function mergeParts(parts: readonly CompiledRule[]): CompiledRule {
  return {
    columns: [...new Set(parts.flatMap(({ columns }) => columns))],
    valueColumns: [...new Set(parts.flatMap(({ valueColumns }) => valueColumns))],
    missing: (columns) => [...new Set(parts.flatMap((part) => part.missing(columns)))],
    bind: (columns) => {
      const computes = parts.map((part) => part.bind(columns))
      return (cells, notes) => {
        const found: EntriesFound = { values: [], kept: [], cleared: false }
        for (const compute of computes) {
          const value = compute(cells, notes)
          if (value instanceof Problem) return value
          if (isJsonObject(value)) found.values.push(...Object.entries(value))
          else if (value !== nothingSaid) found.cleared = true
        }
        return toEntries(found, notes, { isSorted: false })
      }
    },
    timed: parts.some(({ timed }) => timed),
  }
}
