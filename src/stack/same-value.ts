import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { kindOf, metadataOf } from '../api/contract/fields.ts'
import { parsedOf } from '../lib/parsed-of.ts'
import { isEmptyValue } from './kinds.ts'

/**
 * Whether two values of a field mean the same, in whatever form the service or a person wrote them. Comma-separated
 * values, groups and tags are sets: their order and repetitions mean nothing. What the contract does not describe
 * (triggers, actions) is compared as it is, but for the order of keys: there 1 and "1" are different conditions.
 */
export function isSameValue(schema: z.ZodType | undefined, one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(canonicalValue(schema, one), canonicalValue(schema, other))
}

/** Undefined for every form of nothing. */
function canonicalValue(schema: z.ZodType | undefined, value: unknown): unknown {
  if (isEmptyValue(value)) return undefined
  if (schema === undefined) return value
  switch (kindOf(schema)) {
    case 'text':
      return isDateTime(schema) ? (instantOf(value) ?? textOf(value)) : textOf(value)
    case 'comma-separated':
      return setOf(Array.isArray(value) ? value : String(value).split(','))
    case 'integer':
    case 'id':
      return numberOf(value)
    case 'boolean':
    case 'flag':
      return truthOf(value)
    case 'list':
      return listOf(value)
    case 'object':
      return typeof value === 'string' ? (parsedOf(value) ?? value) : value
    case 'timestamp':
      return instantOf(value) ?? textOf(value)
    case undefined:
      return value
  }
}

export function isDateTime(schema: z.ZodType): boolean {
  return metadataOf(schema).format === 'date-time'
}

function textOf(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[+-]?\d{1,16}\s*$/.test(value) ? Number(value) : value
}

const truths: ReadonlyMap<unknown, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['on', true],
  ['0', false],
  ['false', false],
  ['off', false],
])

function truthOf(value: unknown): unknown {
  return truths.get(String(value).trim().toLowerCase()) ?? value
}

function listOf(value: unknown): unknown {
  const parsed = typeof value === 'string' ? parsedOf(value) : value
  const elements = Array.isArray(parsed)
    ? parsed
    : typeof value === 'object'
      ? undefined
      : String(value).split(',')
  if (elements === undefined) return value
  return elements.every((element) => typeof element !== 'object') ? setOf(elements) : elements
}

function setOf(elements: readonly unknown[]): string[] | undefined {
  const texts = elements.map((element) => String(element).trim()).filter((text) => text !== '')
  return texts.length === 0 ? undefined : [...new Set(texts)].sort()
}

const dateTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i

/** Milliseconds since the epoch, of an ISO date-time (UTC unless it says otherwise) or of Unix seconds. */
export function instantOf(value: unknown): number | undefined {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d{9,11}$/.test(value))) {
    return Number(value) * 1000
  }
  const match = typeof value === 'string' ? dateTime.exec(value) : null
  if (match === null) return undefined
  const [, day = '', time = '00:00', zone = 'Z'] = match
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()
  const instant = Date.parse(`${day}T${time}${offset}`)
  return Number.isNaN(instant) ? undefined : instant
}
