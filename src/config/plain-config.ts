import type { Deferred } from './model.ts'

/**
 * A configuration, or a part of it, as JSON can hold it, for another thread or process: values that may be unset are asked
 * for now. It holds the secrets that it is given.
 */
export function plainConfig(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof URL) return { kind: 'address', href: value.href } satisfies PlainAddress
  if (isDeferred(value)) {
    return {
      kind: 'deferred',
      given: value.available ? [plainConfig(value.value())] : [],
    } satisfies PlainDeferred
  }
  if (Array.isArray(value)) return value.map(plainConfig)
  if (value instanceof Map) {
    const entries = [...value].map(([key, entry]) => [key, plainConfig(entry)] as const)
    return { kind: 'map', entries } satisfies PlainMap
  }
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, plainConfig(entry)]))
}

export function configFromPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isPlain(value, 'address')) return new URL((value as PlainAddress).href)
  if (isPlain(value, 'map'))
    return new Map((value as PlainMap).entries.map(([key, entry]) => [key, configFromPlain(entry)]))
  if (isPlain(value, 'deferred')) return deferred((value as PlainDeferred).given.map(configFromPlain))
  if (Array.isArray(value)) return value.map(configFromPlain)
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, configFromPlain(entry)]))
}

interface PlainAddress {
  kind: 'address'
  href: string
}

interface PlainMap {
  kind: 'map'
  entries: readonly (readonly [key: unknown, entry: unknown])[]
}

interface PlainDeferred {
  kind: 'deferred'
  /** Empty: it is not set. */
  given: readonly unknown[]
}

function isDeferred(value: object): value is Deferred<unknown> {
  return 'value' in value && typeof value.value === 'function' && 'available' in value
}

function isPlain(value: object, kind: string): boolean {
  return 'kind' in value && value.kind === kind && ['href', 'entries', 'given'].some((name) => name in value)
}

function deferred(given: readonly unknown[]): Deferred<unknown> {
  const value = () => {
    if (given.length === 0) throw new Error('a value that is not set was asked for')
    return given[0]
  }
  return { available: given.length > 0, value }
}
