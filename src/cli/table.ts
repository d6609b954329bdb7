import { safeLine } from '../lib/terminal-text.ts'

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

/** Characters as a person counts them: combined ones once. */
function widthOf(text: string): number {
  return [...new Intl.Segmenter().segment(text)].length
}

/** `1 feed`, `3 feeds`. */
export function countOf(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? singular : plural}`
}
