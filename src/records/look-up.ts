import { isRepeated, Repeated } from './repeated.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/**
 * The value under exactly this key, else along the dotted path. Own keys only: a feed may name keys `__proto__`. Of an
 * XML element with attributes its text; of repeated elements, and of what lies in them, what each gives.
 */
export function lookUp(source: JsonObject, column: string): unknown {
  const value = lookUpElement(source, column)
  return isRepeated(value) ? Repeated.from(value, textOf) : textOf(value)
}

/** As `lookUp`, but XML elements with attributes stay objects, whose text is their key `#text`. */
export function lookUpElement(source: JsonObject, column: string): unknown {
  if (Object.hasOwn(source, column)) return source[column]
  if (!column.includes('.')) return undefined
  let value: unknown = source
  for (const key of column.split('.')) value = step(value, key)
  return value
}

function step(value: unknown, key: string): unknown {
  if (isRepeated(value)) {
    const found = value
      .map((element) => step(element, key))
      .flatMap((element) => (isRepeated(element) ? [...element] : element === undefined ? [] : [element]))
    return found.length < 2 ? found[0] : Repeated.from(found)
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as JsonObject)[key]
}

function textOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, '#text')) return value
  return (value as JsonObject)['#text']
}
