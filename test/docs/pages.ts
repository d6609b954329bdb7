import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** README.md, and the pages below docs/. */
export const pageNames = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).toSorted()]

/** A page by its path in the project, or by its name below docs/. */
export function readPage(name: string): string {
  const path = pageNames.find((page) => page === name || page === `docs/${name}`)
  if (path === undefined) throw new Error(`there is no page ${name}`)
  return readFileSync(`${root}${path}`, 'utf8')
}

/** The text below a heading, up to the next one of its level or above. */
export function section(page: string, heading: string): string {
  const lines = readPage(page).split('\n')
  const start = lines.indexOf(heading)
  if (start < 0) throw new Error(`${page} has no "${heading}"`)
  const level = heading.indexOf(' ')
  const end = lines.findIndex(
    (line, index) => index > start && /^#+ /.test(line) && line.indexOf(' ') <= level,
  )
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n')
}

/** Rows of all tables of a text, without headings; cells without the escape of `|`. */
export function tableRows(text: string): string[][] {
  const lines = text.split('\n')
  return lines
    .filter((line, index) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1] ?? ''))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    )
}

function isRule(line: string): boolean {
  return /^\|[-|: ]+\|$/.test(line)
}

/** A text without its fenced blocks. */
export function withoutFences(text: string): string {
  return text.replace(/^```.*?^```$/gms, '')
}

/** The anchors of a page, as GitHub makes them of its headings. */
export function headingsOf(page: string): Set<string> {
  const headings = [...withoutFences(readPage(page)).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text)
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** What stands between backticks, outside fenced blocks. */
export function codes(text: string): string[] {
  return [...withoutFences(text).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

export interface Fence {
  language: string
  text: string
}

/** Fenced blocks in their order. */
export function fences(text: string): Fence[] {
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }))
}

/** Fenced blocks of one language. */
export function blocks(language: string, text: string): string[] {
  return fences(text)
    .filter((fence) => fence.language === language)
    .map((fence) => fence.text)
}
