import stringWidth from 'fast-string-width'
import type { ProblemSummary } from '../imports/report.ts'
import { reasonOf } from '../lib/reason-of.ts'
import { safeLine } from '../lib/terminal-text.ts'
import type { RecordIssue } from '../records/model.ts'

/** Columns of text, two spaces apart; numbers stand at the right. The first row may be a heading. */
export function formatTable(rows: readonly (readonly (string | number)[])[], indent = ''): string {
  const count = Math.max(0, ...rows.map((row) => row.length))
  const columns = Array.from({ length: count }, (_, index) => {
    const cells = rows.map((row) => safeLine(String(row[index] ?? '')))
    const width = Math.max(...cells.map(widthOf))
    const isNumeric = rows.some((row) => typeof row[index] === 'number')
    return cells.map((cell) => {
      const space = ' '.repeat(width - widthOf(cell))
      return isNumeric ? space + cell : cell + space
    })
  })
  return rows
    .map((_, row) => `${indent}${columns.map((cells) => cells[row]).join('  ')}`.trimEnd())
    .join('\n')
}

/** Columns of a terminal: two for a letter of Chinese or Japanese, none for what combines. */
function widthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth(text)
}

/**
 * Lines that are longer than a terminal is wide, broken between words. What goes on is marked, so that no text of others
 * begins a line as ours do; a word that is too long alone, such as a path, stays whole.
 */
export function wrapLines(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => (widthOf(line) <= columns ? line : wrapLine(line, columns)))
    .join('\n')
}

function wrapLine(line: string, columns: number): string {
  const indent = Math.min(/^ */.exec(line)?.[0].length ?? 0, columns >> 1)
  const lines = ['']
  for (const word of line.split(/(?<=\S)(?= )/)) {
    const shown = `${lines.at(-1)}${word}`
    if (lines.at(-1) === '' || widthOf(shown) <= columns) lines[lines.length - 1] = shown
    else lines.push(`${' '.repeat(indent)}  ↳ ${word.trimStart()}`)
  }
  return lines.join('\n')
}

/** With a comma before each thousand. Not by `Intl`, whose tables take 10 ms to open. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** `2026-11-24 01:28:40Z`. In the zone of whoever reads it nothing could be compared with a log: as there. */
export function formatTime(at: string): string {
  return at.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** `1 feed`, `3 feeds`. */
export function countOf(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`
}

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

/** The text in so many columns of a terminal, with … where it was longer. */
export function cut(text: string, columnsMax: number): string {
  // Cheap for long texts: no more is looked at than a few times what is shown.
  const beginning = text.slice(0, columnsMax * 8)
  if (beginning === text && widthOf(text) <= columnsMax) return text
  let shown = ''
  let width = 0
  for (const { segment } of new Intl.Segmenter().segment(beginning)) {
    width += widthOf(segment)
    if (width >= columnsMax) break
    shown += segment
  }
  return `${shown}…`
}

const problemsMax = 10
/** Of a value: the reason shows the beginning of most. */
const comparedCharacters = 40

/** The most frequent problems: how often, the first example with its line and value, and what to do. */
export function formatProblems(problems: readonly ProblemSummary[]): string[] {
  const shown = problems
    .slice(0, problemsMax)
    .flatMap(({ field, code, severity, count, examples }) => [
      `  ${severity === 'reject' ? 'rejected' : 'warning'}  ${countOf(count, 'record')}  ${field ?? 'record'}  ${code}`,
      ...examples.slice(0, 1).flatMap(formatExample),
    ])
  const more = problems.length - problemsMax
  return more > 0 ? [...shown, `  and ${countOf(more, 'further kind')} of problem`] : shown
}

function formatExample(issue: RecordIssue): string[] {
  const { record, line, value, remedy } = issue
  const reason = reasonOf(issue)
  const isShown = value === undefined || reason.includes(beginningOf(value))
  return [
    `    record ${record}, line ${line}: ${reason}`,
    ...(isShown ? [] : [`    value: ${value}`]),
    ...(remedy === undefined ? [] : [`    → ${remedy}`]),
  ]
}

/** As it stands in quotes. */
function beginningOf(value: string): string {
  return JSON.stringify(value.slice(0, comparedCharacters)).slice(1, -1)
}
