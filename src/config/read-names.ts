import { readFile } from 'node:fs/promises'
import { parseDocument } from 'yaml'
import { maskReferences } from './variables.ts'

/** As catalogs and feeds may be named: nothing else comes into a shell. */
const name = /^[\w-]+$/

/** The feeds of each catalog as the file names them, whatever else may be wrong with it. */
export async function readNames(file: string): Promise<Map<string, string[]>> {
  const document = parseDocument(maskReferences(await readFile(file, 'utf8')), { logLevel: 'silent' })
  const { catalogs } = members(document.toJS())
  return new Map(
    namesOf(catalogs).map((catalog) => [
      catalog,
      namesOf(members(members(members(catalogs))[catalog]).feeds),
    ]),
  )
}

function namesOf(value: unknown): string[] {
  return Object.keys(members(value)).filter((key) => name.test(key))
}

function members(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
