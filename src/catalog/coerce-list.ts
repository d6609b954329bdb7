import { hasOtherCategorySeparator } from '../api/contract/values.ts'
import { parsedOf } from '../lib/parsed-of.ts'
import { addressOf, type Coerce, type CoerceOptions } from './coerce-scalar.ts'
import { Problem } from './problem.ts'
import { textOf } from './text-of.ts'

const defaultSplit = '|'

/** Cells are split, or are JSON arrays unless `split` is configured; NDJSON arrays are taken as they are. */
export function listCoercer(options: CoerceOptions): Coerce {
  return (value) => {
    const elements = elementsOf(value, options)
    if (elements instanceof Problem) return elements
    return elements.length === 0 && typeof value === 'string' ? undefined : elements
  }
}

/** Addresses may hold the mark themselves, as those of image services do: a list is split only where one begins. */
export function urlListCoercer(options: CoerceOptions): Coerce {
  const toList = listCoercer({ ...options, joinPieces: joinAddresses })
  return (value, notes) => {
    const list = toList(value, notes)
    return Array.isArray(list) ? list.map((element) => addressOf(String(element), options, notes)) : list
  }
}

/** Paths with one slash between levels, whatever separates them in the feed. */
export function categoriesCoercer(options: CoerceOptions): Coerce {
  const toList = listCoercer(options)
  return (value, notes) => {
    const elements = toList(value, notes)
    if (!Array.isArray(elements)) return elements
    const paths: string[] = []
    for (const element of elements) {
      const path = toPath(String(element), options)
      if (path instanceof Problem) return path
      if (path !== '') paths.push(path)
    }
    return paths
  }
}

function elementsOf(value: unknown, options: CoerceOptions): string[] | Problem {
  const list = Array.isArray(value) ? splitElements(value, options) : splitCell(value, options)
  if (list instanceof Problem) return list
  const elements: string[] = []
  for (const element of list) {
    const content = element === null ? '' : textOf(element)?.trim()
    if (content === undefined) {
      const found = `found ${options.describe(element)} in the list, expected texts`
      return new Problem('not-text', { found, remedy: 'give each element as a string' })
    }
    const text = options.reshape ? options.reshape(content) : content
    if (text === undefined || text === '') continue
    const translated = options.translate ? options.translate(text) : text
    if (translated instanceof Problem) return translated
    elements.push(translated)
  }
  return elements
}

/** Repeated elements of XML may hold lists each; the elements of a JSON list are what they are, unless split is set. */
function splitElements(list: readonly unknown[], options: CoerceOptions): readonly unknown[] {
  const { split } = options
  if (split === undefined) return list
  return list.flatMap<unknown>((element) =>
    typeof element === 'string' ? splitAt(element, split, options) : [element],
  )
}

function splitAt(text: string, mark: string, { escapeMark, joinPieces }: CoerceOptions): readonly string[] {
  const pieces = splitText(text, mark, escapeMark)
  return joinPieces && pieces.length > 1 ? joinPieces(pieces, mark) : pieces
}

/** What goes on where a mark of addresses split one: neither an address nor a path, and without blanks. */
function joinAddresses(pieces: readonly string[], mark: string): readonly string[] {
  if (mark !== ',' && mark !== ';') return pieces
  const addresses: string[] = []
  let isOpen = false
  for (const piece of pieces) {
    if (isOpen && /^(?!\/|https?:)\S+$/i.test(piece)) {
      addresses.push(addresses.pop() + mark + piece)
      continue
    }
    addresses.push(piece)
    // Looked at before it grows: a text is copied whole when it is searched, and pieces may be many.
    isOpen = /^\s*https?:/i.test(piece)
  }
  return addresses
}

/** A mark behind the escape mark is part of its element, without the escape mark. */
export function splitText(text: string, mark: string, escapeMark: string | undefined): string[] {
  const pieces = text.split(mark)
  if (escapeMark === undefined || !text.includes(escapeMark)) return pieces
  const elements: string[] = []
  let open = ''
  for (const [index, piece] of pieces.entries()) {
    const goesOn = piece.endsWith(escapeMark) && index < pieces.length - 1
    if (goesOn) open += piece.slice(0, -escapeMark.length) + mark
    else {
      elements.push(open + piece)
      open = ''
    }
  }
  return elements
}

function splitCell(value: unknown, options: CoerceOptions): readonly unknown[] | Problem {
  const { split = ownSplit(options), describe } = options
  const text = textOf(value)
  if (text === undefined) {
    const found = `found ${describe(value)}, expected a list of texts`
    return new Problem('not-a-list', { found, remedy: 'give a list of strings' })
  }
  if (options.split === undefined && text.startsWith('[') && text.endsWith(']')) {
    const parsed = parsedOf(text)
    if (Array.isArray(parsed)) return parsed
    // A bracket may open plain text as well ("[Sale] shoes|boots [2024]"); a bracket and a quote may not.
    if (/^\[\s*"/.test(text)) {
      const found = `found ${describe(value)}, which is no valid JSON array`
      return new Problem('not-json', { found, remedy: 'correct it' })
    }
  }
  return split === undefined ? [text] : splitAt(text, split, options)
}

/** What separates the levels of a category separates no categories. */
function ownSplit({ separator }: CoerceOptions): string | undefined {
  return separator === defaultSplit ? undefined : defaultSplit
}

function toPath(text: string, { separator, slash, describe }: CoerceOptions): string | Problem {
  const mark = separator ?? '/'
  const levels = text
    .split(mark)
    .map((level) => level.trim())
    .filter((level) => level !== '')
  if (levels.some(hasOtherCategorySeparator)) {
    const remedy = /&gt;/i.test(text) ? 'set separator: "&gt;"' : 'set separator: ">"'
    const found = `found ${describe(text)}, whose levels are separated by ">", expected slashes`
    return new Problem('category-separator', { found, remedy })
  }
  if (mark === '/') return (text.startsWith('/') && levels.length > 0 ? '/' : '') + levels.join('/')
  if (slash !== undefined) return levels.map((level) => level.replaceAll('/', slash)).join('/')
  if (levels.some((level) => level.includes('/'))) {
    const remedy = 'set slash to what replaces it, such as slash: "-"'
    const found = `found ${describe(text)}, where a "/" inside one level would make two of it`
    return new Problem('category-slash', { found, remedy })
  }
  return levels.join('/')
}
