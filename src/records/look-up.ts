/** The value under exactly this key, else along the dotted path. Own keys only: a feed may name keys `__proto__`. */
export function lookUp(source: Readonly<Record<string, unknown>>, column: string): unknown {
  if (Object.hasOwn(source, column)) return source[column]
  if (!column.includes('.')) return undefined
  let value: unknown = source
  for (const key of column.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}
