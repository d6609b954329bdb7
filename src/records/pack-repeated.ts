import { Repeated } from './repeated.ts'

/**
 * What goes to a file or to another thread keeps all that parsers yield but the class of repeated elements: a Map stands
 * for them meanwhile, which nothing parsed ever is.
 */
export function packRepeated(value: unknown): unknown {
  return convert(value, (each) => {
    if (each instanceof Map) throw noData(each)
    return each instanceof Repeated ? new Map(each.entries()) : each
  })
}

/** Throws a TypeError for objects that are no data, such as a set, which a transform may have made. */
export function unpackRepeated(value: unknown): unknown {
  return convert(value, (each) => {
    if (each instanceof Map) return Repeated.from(each.values())
    if (each instanceof Repeated || each instanceof Date) return each
    throw noData(each)
  })
}

function noData(value: object): TypeError {
  const expected = 'texts, numbers, truth values, lists and plain objects'
  return new TypeError(`it answers a ${value.constructor.name} in the record, expected ${expected}`)
}

function convert(value: unknown, swap: (value: object) => object): unknown {
  // What a transform makes may hold whole numbers that neither JSON nor a rule knows.
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Repeated) return swap(Repeated.from(value, (each) => convert(each, swap)))
  if (Array.isArray(value)) return value.map((each) => convert(each, swap))
  if (value instanceof Map) {
    return swap(new Map([...value].map(([index, each]) => [index, convert(each, swap)])))
  }
  // What a transform makes may hold dates and the like. Of its own classes the other thread gets plain objects.
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return swap(value)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, convert(each, swap)]))
}
