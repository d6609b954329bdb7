const shownCharactersMax = 60
/** May hold the address of a person, which is shown nowhere. */
const addressLike = /\S@\S/
const plainKey = /^[$\w-]{1,60}$/

/** `skus[0].price`, `variations.EU.availability`, `custom_fields["a b"]`; `whole` where nothing in it is meant. */
export function formatPath(path: readonly PropertyKey[], whole = 'product'): string {
  if (path.length === 0) return whole
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
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value !== 'string')
    return secret ? `a ${typeof value} (value not shown)` : `the ${typeof value} ${String(value)}`
  if (value !== '' && (secret || addressLike.test(value))) return 'a text (value not shown)'
  return value === '' ? 'an empty text' : `the text ${quote(value)}`
}

/** The name of a field in its own right, as `formatPath` would show it in a place. */
export function showName(name: string): string {
  return addressLike.test(name) ? '(name not shown)' : name
}

function quote(text: string): string {
  if (addressLike.test(text)) return '(name not shown)'
  const shown = text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text
  return JSON.stringify(shown)
}
