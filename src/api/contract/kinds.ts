/** What a cell must become to fit a field of the contract. */
export type FieldKind =
  | 'string'
  | 'number'
  | 'integer'
  | 'url'
  | 'decimal-string'
  | 'integer-string'
  | 'date'
  | 'string-list'
  | 'category-list'
  | 'url-list'
  | 'object'
  | 'object-list'

/** Also what only occurs inside a list: a list is called by its elements. */
export type ValueKind = FieldKind | 'category'

/** What the elements of a field are; a field that is no list is its own element. */
export function elementKindOf(kind: FieldKind): ValueKind {
  return kind.replace(/-list$/, '') as ValueKind
}

/** For messages: what the contract expects, and what to do to get there. */
export const expectations: Readonly<Record<ValueKind, { expected: string; remedy: string }>> = {
  string: { expected: 'a text', remedy: 'give it as a string' },
  number: { expected: 'a number', remedy: 'give the digits with a point as decimal mark and no currency' },
  integer: { expected: 'a whole number', remedy: 'give the digits without a fraction or unit' },
  url: {
    expected: 'an absolute http or https address',
    remedy: 'start it with https:// and a host, and write spaces as %20',
  },
  'decimal-string': {
    expected: 'a decimal in string form such as "4.5"',
    remedy: 'give the digits as a string with a point as decimal mark',
  },
  'integer-string': {
    expected: 'a whole number in string form such as "12"',
    remedy: 'give only the digits, as a string',
  },
  date: { expected: 'a calendar date YYYY-MM-DD', remedy: 'convert it to that form, without a time' },
  category: {
    expected: 'a category path with slashes such as "Home/Kitchen"',
    remedy: 'separate the levels by one slash each, leave none empty and use no other separator',
  },
  'string-list': { expected: 'a list of texts', remedy: 'split the value into a list of strings' },
  'category-list': {
    expected: 'a list of category paths such as "Home/Kitchen"',
    remedy: 'split the value into a list of paths',
  },
  'url-list': {
    expected: 'a list of absolute http or https addresses',
    remedy: 'split the value into a list of addresses',
  },
  object: { expected: 'an object', remedy: 'give a JSON object' },
  'object-list': { expected: 'a list of SKU objects', remedy: 'give a JSON array of objects' },
}
