/** A table of a markdown document, with the heading above it. */
export interface Table {
  section: string
  columns: readonly string[]
  rows: readonly Readonly<Record<string, string>>[]
}

export function parseTables(markdown: string): Table[] {
  const tables: Table[] = []
  let section = ''
  let lines: string[] = []
  const close = () => {
    const table = lines.length > 2 ? parseTable(section, lines) : undefined
    if (table !== undefined) tables.push(table)
    lines = []
  }
  for (const line of markdown.split(/\r?\n/)) {
    if (line.startsWith('|')) {
      lines.push(line)
      continue
    }
    close()
    if (/^#{2,3} /.test(line)) section = line.replace(/^#+ /, '').replace(/ \(.*$/, '')
  }
  close()
  return tables
}

function parseTable(section: string, [head = '', , ...body]: readonly string[]): Table {
  const columns = cellsOf(head)
  const rows = body.map((line) => {
    const cells = cellsOf(line)
    return Object.fromEntries(columns.map((column, position) => [column, cells[position] ?? '']))
  })
  return { section, columns, rows }
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\||\|\s*$/g, '')
    .split('|')
    .map((cell) => cell.trim())
}

/** What stands in backticks. */
export function quotedIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, quoted]) => quoted ?? '')
}

/** Bullets, and paragraphs outside of tables: where some fields are listed in running text. */
export function paragraphsOf(markdown: string): string[] {
  return markdown
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('|') && !line.startsWith('#'))
}
