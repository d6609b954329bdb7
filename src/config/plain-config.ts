import type { Deferred } from './model.ts'

/**
 * A configuration, or a part of it, as JSON can hold it, for another thread or process: values that may be unset are asked
 * for now. It holds the secrets that it is given.
 */
export function plainConfig(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plainConfig)
  if (value instanceof URL) return { [mark]: 'address', value: value.href } satisfies Marked
  if (value instanceof Map) return { [mark]: 'map', value: plainConfig([...value]) } satisfies Marked
  if (isDeferred(value)) {
    const given = value.available ? [plainConfig(value.value())] : []
    return { [mark]: 'deferred', value: given } satisfies Marked
  }
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, plainConfig(entry)]))
}

export function configFromPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(configFromPlain)
  if (mark in value) {
    const marked = value as Marked
    if (marked[mark] === 'address') return new URL(marked.value as string)
    const parts = configFromPlain(marked.value)
    return marked[mark] === 'map' ? new Map(parts as [unknown, unknown][]) : deferred(parts as unknown[])
  }
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, configFromPlain(entry)]))
}

/** A key that no configuration has. */
const mark = '\u0000'

/** `value` of what is deferred: empty where it is not set. */
interface Marked {
  [mark]: 'address' | 'map' | 'deferred'
  value: unknown
}

function isDeferred(value: object): value is Deferred<unknown> {
  return 'value' in value && typeof value.value === 'function' && 'available' in value
}

function deferred(given: readonly unknown[]): Deferred<unknown> {
  const value = () => {
    if (given.length === 0) throw new Error('a value that is not set was asked for')
    return given[0]
  }
  return { available: given.length > 0, value }
}
