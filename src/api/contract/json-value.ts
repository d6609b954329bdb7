import { z } from 'zod'

export type JsonValue = z.core.util.JSONType

/** Deeper than any rule that people write, and far from what overflows a stack. */
export const jsonDepthMax = 64

/** Where and why a value is not a JSON value that may be kept. */
export interface JsonFault {
  path: PropertyKey[]
  input: unknown
  fault: 'not-json' | 'reserved' | 'too-deep'
}

interface Visit {
  value: unknown
  parent?: Visit
  key?: PropertyKey
  depth: number
}

/**
 * The first fault of a value, in no order that counts; undefined for JSON. Does not recurse, so that nesting cannot
 * overflow the stack. Refused besides what JSON cannot carry: an own key `__proto__` (JSON.parse makes one), which is
 * lost or changes the prototype wherever an object is copied. Fields of an object may be undefined: JSON leaves them out.
 */
export function findJsonFault(root: unknown): JsonFault | undefined {
  const open: Visit[] = [{ value: root, depth: 0 }]
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    const { value, depth } = visit
    if (!isContainer(value)) {
      if (!isJsonScalar(value)) return faultAt(visit, 'not-json')
      continue
    }
    if (depth >= jsonDepthMax) return faultAt(visit, 'too-deep')
    if (Object.hasOwn(value, '__proto__')) {
      return faultAt({ value, parent: visit, key: '__proto__', depth: depth + 1 }, 'reserved')
    }
    for (const [key, child] of entriesOf(value)) {
      if (child === undefined && !Array.isArray(value)) continue
      open.push({ value: child, parent: visit, key, depth: depth + 1 })
    }
  }
  return undefined
}

/** Any JSON value, kept as it is; not copied. */
export const jsonValue = z.custom<JsonValue>().check(refuseFault)

/** Any JSON object, kept as it is; not copied. */
export const jsonObject = z
  .custom<Record<string, JsonValue>>(isObject)
  .check(refuseFault)
  .meta({ type: 'object', expected: 'an object', remedy: 'give a JSON object' })

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuseFault(context: z.core.ParsePayload<unknown>): void {
  const found = findJsonFault(context.value)
  if (found === undefined) return
  const { path, input, fault } = found
  context.issues.push({ code: 'custom', path, input, params: { fault } })
}

function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || isPlain(value)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function isJsonScalar(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || typeof value === 'string' || typeof value === 'boolean'
}

function entriesOf(value: object): Iterable<[PropertyKey, unknown]> {
  return Array.isArray(value) ? value.entries() : Object.entries(value)
}

function faultAt(visit: Visit, fault: JsonFault['fault']): JsonFault {
  const path: PropertyKey[] = []
  for (let at: Visit | undefined = visit; at?.key !== undefined; at = at.parent) path.unshift(at.key)
  return { path, input: visit.value, fault }
}
