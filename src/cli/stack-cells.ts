/**
 * What others wrote, fit for a terminal: control characters (which move the cursor, change colours, forge lines) and
 * marks that turn the direction of text are shown as escapes.
 */
export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The same for text of several lines, which stay lines. */
export function harmlessLines(text: string): string {
  return text.split('\n').map(harmless).join('\n')
}

/** A value in a cell of a table: one line, cut where it is long. */
export function cell(value: unknown, charactersMax = 40): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return cut(harmless(text), charactersMax)
}

/** A value as a person compares it with another: texts in quotation marks. */
export function shownValue(value: unknown, charactersMax = 100): string {
  return value === undefined || value === null
    ? '(none)'
    : cut(harmless(JSON.stringify(value) ?? ''), charactersMax)
}

function cut(text: string, charactersMax: number): string {
  // Cheap for long texts: no cell is built of more than a few times what is shown.
  const characters = Array.from(
    new Intl.Segmenter().segment(text.slice(0, charactersMax * 8)),
    ({ segment }) => segment,
  )
  if (characters.length <= charactersMax && text.length <= charactersMax * 8) return text
  return `${characters.slice(0, charactersMax - 1).join('')}…`
}
