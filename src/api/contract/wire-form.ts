import { z } from 'zod'
import { parsedOf } from '../../lib/parsed-of.ts'
import { bareSchema, kindOf, type WireKind } from './fields.ts'
import { isObject } from './json-value.ts'
import { fieldsOf, schemaAt } from './problems.ts'

/**
 * What real clients send, in the contract's form: form fields and query fields are all texts, ids and numbers are texts
 * or the other way round, lists come comma-separated, as `tags[]` or as JSON. Changes only what the schema refuses as
 * it is, and only into something that it accepts; anything else stays, so that the check can name it. Pure.
 *
 * Null, and an empty text where the field is no plain text, count as not given when the field may be left out. With
 * `emptyTexts: 'values'` an empty text means false, 0 or an empty list, where the field is one of these: clients that
 * write an update as form or query have no other text for them.
 */
export function inWireForm(
  schema: z.ZodType,
  value: unknown,
  { emptyTexts = 'not-given' }: { emptyTexts?: 'not-given' | 'values' } = {},
): unknown {
  const bare = bareSchema(schema)
  if (bare instanceof z.ZodArray && Array.isArray(value)) {
    const element = bare.element as z.ZodType
    return value.map((one) => inWireForm(element, one))
  }
  const fields = fieldsOf(schema)
  if (fields === undefined || !isObject(value)) return value
  const entries: [string, unknown][] = []
  for (const [sentName, one] of Object.entries(value)) {
    const name = fieldNameOf(sentName, fields, value)
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) {
      entries.push([sentName, one])
      continue
    }
    const isMeant = emptyTexts === 'values' && !Object.hasOwn(value, `${sentName}[]`)
    const given = isMeant ? valueOfEmpty(field, one) : one
    if (!isLeftOut(field, given)) entries.push([name, fieldInWireForm(field, given, sentName !== name)])
  }
  // From entries, since an assignment to the key `__proto__` would change the prototype.
  return Object.fromEntries(entries)
}

/** `tags[]` is `tags`, unless that is given too. */
function fieldNameOf(
  sentName: string,
  fields: Readonly<Record<string, z.ZodType>>,
  value: Readonly<Record<string, unknown>>,
): string {
  if (!sentName.endsWith('[]')) return sentName
  const name = sentName.slice(0, -2)
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (field === undefined) return sentName
  return Object.hasOwn(value, name) && !isLeftOut(field, value[name]) ? sentName : name
}

function isLeftOut(field: z.ZodType, value: unknown): boolean {
  if (value === undefined) return true
  if (value !== null && !(typeof value === 'string' && value.trim() === '')) return false
  if (accepts(field, value) || !accepts(field, undefined)) return false
  return value === null || !isPlainText(field)
}

const emptyValues: ReadonlyMap<WireKind | undefined, unknown> = new Map<WireKind, unknown>([
  ['boolean', false],
  ['flag', 0],
  ['integer', 0],
  ['list', []],
])

/** What an empty text means where it is written for a value; anything else stays. */
function valueOfEmpty(field: z.ZodType, value: unknown): unknown {
  if (typeof value !== 'string' || value.trim() !== '' || accepts(field, value)) return value
  const meant = emptyValues.get(kindOf(field))
  return meant !== undefined && accepts(field, meant) ? meant : value
}

/** A text of the caller's own words: there, an empty one is a mistake that the check should name. */
function isPlainText(field: z.ZodType): boolean {
  const bare = bareSchema(field)
  return bare instanceof z.ZodString && (bare.minLength ?? 0) > 0
}

function fieldInWireForm(field: z.ZodType, value: unknown, isList: boolean): unknown {
  const given = isList && !Array.isArray(value) ? [value] : value
  if (accepts(field, given)) return given
  const kind = kindOf(field)
  const candidates = kind === undefined ? [] : candidatesFor(kind, field, given)
  const fitting = candidates.find((candidate) => accepts(field, candidate))
  if (fitting !== undefined) return fitting
  // An object or a list that was understood but is wrong inside: the check then names the place inside.
  const understood = candidates.find((candidate) => typeof candidate === 'object')
  return understood ?? given
}

/** What a value may mean, likeliest first. */
function candidatesFor(kind: WireKind, field: z.ZodType, value: unknown): unknown[] {
  switch (kind) {
    case 'text':
      return typeof value === 'number' ? [String(value)] : []
    case 'comma-separated':
      if (typeof value === 'number') return [String(value)]
      return isScalarList(value) ? [value.join(',')] : []
    case 'integer':
    case 'id':
    case 'timestamp':
      return numbersIn(value)
    case 'boolean':
    case 'flag':
      return truthsIn(value)
    case 'list':
      return listsIn(field, value)
    case 'object':
      return objectsIn(field, value)
  }
}

const wholeNumber = /^[+-]?\d{1,16}$/

function numbersIn(value: unknown): number[] {
  const text = typeof value === 'string' ? value.trim() : ''
  return wholeNumber.test(text) ? [Number(text)] : []
}

const truths: ReadonlyMap<unknown, readonly unknown[]> = new Map<unknown, readonly unknown[]>([
  ['1', [1, true]],
  ['0', [0, false]],
  ['true', [true, 1]],
  ['false', [false, 0]],
  ['on', [true, 1]],
  ['off', [false, 0]],
  [1, [1, true]],
  [0, [0, false]],
  [true, [true, 1]],
  [false, [false, 0]],
])

function truthsIn(value: unknown): unknown[] {
  return [...(truths.get(typeof value === 'string' ? value.trim().toLowerCase() : value) ?? [])]
}

function listsIn(field: z.ZodType, value: unknown): unknown[] {
  const element = schemaAt(field, [0])
  const inner = (elements: readonly unknown[]) => elements.map((one) => elementInWireForm(element, one))
  if (Array.isArray(value)) return [inner(value)]
  if (typeof value === 'number') return [inner([value])]
  if (isObject(value)) {
    const elements = elementsOf(value)
    return elements === undefined ? [] : [inner(elements)]
  }
  if (typeof value !== 'string') return []
  const parsed = parsedOf(value)
  if (Array.isArray(parsed)) return [inner(parsed)]
  const isOfObjects = element !== undefined && kindOf(element) === 'object'
  if (isOfObjects) return isObject(parsed) ? [inner([parsed])] : []
  const parts = value.split(',').map((part) => part.trim())
  return [inner(parts.filter((part) => part !== ''))]
}

/** Form parsers write a list with many or with sparse positions as an object: `{ "0": …, "1": … }`. */
function elementsOf(value: Readonly<Record<string, unknown>>): unknown[] | undefined {
  const keys = Object.keys(value)
  if (keys.length === 0 || !keys.every((key) => /^\d{1,9}$/.test(key))) return undefined
  return keys.toSorted((a, b) => Number(a) - Number(b)).map((key) => value[key])
}

function elementInWireForm(element: z.ZodType | undefined, value: unknown): unknown {
  if (element === undefined || accepts(element, value)) return value
  return fieldInWireForm(element, value, false)
}

function objectsIn(field: z.ZodType, value: unknown): unknown[] {
  const parsed = typeof value === 'string' ? parsedOf(value) : value
  return isObject(parsed) ? [inWireForm(field, parsed)] : []
}

function isScalarList(value: unknown): value is (string | number)[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' || typeof one === 'number')
}

function accepts(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success
}
