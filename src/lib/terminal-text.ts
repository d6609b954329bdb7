import { isPlainObject } from './redact.ts'

/** Where text goes that a person may read. */
export interface TextStream {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

/**
 * What commands a terminal or rearranges the text around it: control characters (they move the cursor, change colours,
 * set titles), separators of lines and marks of direction.
 */
const commanding = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/gu
const commandingInLines = /(?![\n\t])[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/gu
const shortForms: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** What others wrote, as one line that is fit for a terminal: `\u001b`, `\n` in place of what commands it. */
export function safeLine(text: string): string {
  return text.replaceAll(commanding, escaped)
}

/** The same for text of several lines, which stay lines. JSON stays the same JSON. */
export function safeLines(text: string): string {
  return text.replaceAll(commandingInLines, escaped)
}

function escaped(character: string): string {
  return shortForms.get(character) ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** A copy of plain data in which every text is one line that is fit for a terminal. */
export function safeValue<T>(value: T): T
export function safeValue(value: unknown): unknown {
  if (typeof value === 'string') return safeLine(value)
  if (Array.isArray(value)) return value.map((item) => safeValue<unknown>(item))
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [safeLine(key), safeValue<unknown>(entry)]),
  )
}

/** A stream through which nothing reaches a terminal that commands it. */
export function safeStream(stream: TextStream): TextStream {
  return {
    write: (text) => stream.write(safeLines(text)),
    get isTTY() {
      return stream.isTTY === true
    },
    get columns() {
      return stream.columns ?? 80
    },
  }
}
