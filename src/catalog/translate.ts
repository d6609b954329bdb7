import { basename } from 'node:path'
import type { LookupTable } from '../config/rule-model.ts'
import { Problem } from './problem.ts'

/** A table by key; the same for every rule that names it. */
export type ReadTable = (table: LookupTable) => ReadonlyMap<string, string>

interface Context {
  readTable: ReadTable | undefined
  describe: (value: unknown) => string
}

/** What a table says instead of a text. Without a table texts stay as they are. */
export function translator(
  lookup: LookupTable,
  { readTable, describe }: Context,
): (text: string) => string | Problem {
  const table = readTable?.(lookup)
  if (!table) return (text) => text
  return (text) => {
    const value = table.get(text.trim())
    if (value !== undefined) return value
    const place = `column "${lookup.key}" of ${basename(lookup.file)}`
    const found = `found ${describe(text)}, which ${place} does not hold`
    return new Problem('lookup-unmatched', { found, remedy: 'add a row for it' })
  }
}
