import { isRepeated, Repeated } from './repeated.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The value under exactly this key, else along the dotted path, where `link[@rel=self]` are those elements that are so.
 * Own keys only: a feed may name keys `__proto__`. Of an XML element with attributes its text; of repeated elements, of
 * lists of JSON objects, and of what lies in them, what each gives.
 */
export function lookUp(source: JsonObject, column: string): unknown {
  const value = lookUpElement(source, column)
  return isRepeated(value) ? Repeated.from(value, textOf) : textOf(value)
}

/** As `lookUp`, but XML elements with attributes stay objects, whose text is their key `#text`. */
export function lookUpElement(source: JsonObject, column: string): unknown {
  if (Object.hasOwn(source, column)) return source[column]
  if (!column.includes('.') && !column.endsWith(']')) return undefined
  let value: unknown = source
  for (const key of column.split('.')) value = step(value, key)
  return value
}

/** Of elements: what one of their attributes or children is; nothing behind the sign: they have none. */
const condition = /^(?<name>.+)\[(?<part>[^=\]]+)=(?<wanted>[^\]]*)\]$/

function step(value: unknown, key: string): unknown {
  const { name, part = '', wanted } = (key.endsWith(']') && condition.exec(key)?.groups) || {}
  if (name === undefined) return member(value, key)
  const found = member(value, name)
  const chosen = (Array.isArray(found) ? [...found] : [found]).filter(
    (element) => String(textOf(member(element, part)) ?? '') === wanted,
  )
  return chosen.length < 2 ? chosen[0] : Repeated.from(chosen)
}

function member(value: unknown, key: string): unknown {
  if (isRepeated(value)) {
    const found = value
      .map((element) => member(element, key))
      .flatMap((element) => (isRepeated(element) ? [...element] : element === undefined ? [] : [element]))
    return found.length < 2 ? found[0] : Repeated.from(found)
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, key)) return (value as JsonObject)[key]
  return Array.isArray(value) ? ofEach(value, key) : undefined
}

/** What is missing in one leaves its place: several keys of the same list stay side by side. */
function ofEach(list: readonly unknown[], key: string): Repeated | undefined {
  const found = list.map((element) => member(element, key))
  if (found.every((one) => one === undefined)) return undefined
  return Repeated.from(found.flatMap((one) => (Array.isArray(one) ? [...one] : [one ?? null])))
}

function textOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, '#text')) return value
  return (value as JsonObject)['#text']
}
