import { safeLine } from '../lib/terminal-text.ts'

/** A value in a cell of a table: one line, cut where it is long. */
export function cell(value: unknown, charactersMax = 40): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return cut(safeLine(text), charactersMax)
}

/** A value as a person compares it with another: texts in quotation marks. */
export function shownValue(value: unknown, charactersMax = 100): string {
  return value === undefined || value === null
    ? '(none)'
    : cut(safeLine(JSON.stringify(value) ?? ''), charactersMax)
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
