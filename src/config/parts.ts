import type { z } from 'zod'
import type { ConfigDocument } from './document.ts'
import { describeFound } from './issues.ts'
import type { FeedKind, GroupConfig } from './model.ts'
import { type ConfigPath, suggestion } from './problems.ts'
import type { FieldRule } from './rule-model.ts'

/** What the catalog stage knows and the configuration cannot: given by whoever puts the stages together. */
export interface FieldKnowledge {
  /** All product fields of the contract; without them names of fields are not checked. */
  productFields?: readonly string[]
  /** What is wrong with how a field is computed, one sentence each. */
  checkRule?: (field: string, rule: FieldRule) => string[]
  /** Why a feed cannot find products by this field. */
  keyProblem?: (key: string) => string | undefined
  /** What is wrong with how rows become products. */
  checkGroup?: (group: GroupConfig) => string[]
  /** The same as `checkRule` for the fields of a consent. */
  checkConsentRule?: (field: string, rule: FieldRule) => string[]
}

/** A part that is sound by itself, with defaults; undefined otherwise. */
export function soundPart<Schema extends z.ZodType>(
  document: ConfigDocument,
  path: ConfigPath,
  schema: Schema,
): z.output<Schema> | undefined {
  const parsed = schema.safeParse(document.at(path))
  return parsed.success ? parsed.data : undefined
}

/** The keys of the mapping at a path; none when it is no mapping. */
export function namesAt(document: ConfigDocument, path: ConfigPath): string[] {
  const value = document.at(path)
  return isMapping(value) ? Object.keys(value) : []
}

/** Paths of all feeds, over all catalogs. */
export function feedPaths(document: ConfigDocument): ConfigPath[] {
  return namesAt(document, ['catalogs']).flatMap((catalog) => {
    const feeds = ['catalogs', catalog, 'feeds']
    return namesAt(document, feeds).map((feed) => [...feeds, feed])
  })
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a feed's records are about; products where it says nothing sound. */
export function kindOfFeed(document: ConfigDocument, path: ConfigPath): FeedKind {
  return document.at([...path, 'kind']) === 'consents' ? 'consents' : 'products'
}

/** Checks a text, unless a variable that it needs is not set. */
export function checkText(
  document: ConfigDocument,
  path: ConfigPath,
  problemOf: (text: string) => string | undefined,
): void {
  const value = document.at(path)
  if (typeof value !== 'string' || document.unsetAt(path).length > 0) return
  const expected = problemOf(value)
  if (expected !== undefined) document.addProblem(path, `found ${describeFound(value, path)}, ${expected}`)
}

/** Checks a list of names of product fields. */
export function checkFieldNames(document: ConfigDocument, path: ConfigPath, knowledge: FieldKnowledge): void {
  const known = knowledge.productFields
  const names = document.at(path)
  if (known === undefined || !Array.isArray(names)) return
  for (const [index, name] of names.entries()) {
    if (typeof name !== 'string' || name === '' || known.includes(name)) continue
    document.addProblem(
      [...path, index],
      `found "${name}", which is no product field${suggestion(name, known)}`,
    )
  }
}
