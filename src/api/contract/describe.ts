const shownCharactersMax = 60
const plainKey = /^[\w-]{1,60}$/

/** `skus[0].price`, `variations.EU.availability`, `custom_fields["a b"]`; `product` for the whole. */
export function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'product'
  return path.reduce<string>((place, key) => {
    if (typeof key === 'number') return `${place}[${key}]`
    const name = String(key)
    if (!plainKey.test(name)) return `${place}[${quote(name)}]`
    return place === '' ? name : `${place}.${name}`
  }, '')
}

/** What stands where something else is expected, short enough for one line; `secret` hides the value. */
export function describeFound(value: unknown, secret: boolean): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  if (secret) return `a ${typeof value} (value not shown)`
  if (typeof value !== 'string') return `the ${typeof value} ${String(value)}`
  return value === '' ? 'an empty text' : `the text ${quote(value)}`
}

function quote(text: string): string {
  const shown = text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text
  return JSON.stringify(shown)
}
