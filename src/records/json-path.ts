/** Where the records of a JSON file are: the keys from the root, and what holds the records there. */
export interface JsonPath {
  keys: readonly string[]
  around: 'array' | 'object'
}

/** `data.products` is an array, `data.products.*` what stands under the keys of an object; empty is the root. */
export function parseJsonPath(path: string): JsonPath {
  const keys = path === '' ? [] : path.split('.')
  return keys.at(-1) === '*' ? { keys: keys.slice(0, -1), around: 'object' } : { keys, around: 'array' }
}
