import type { GroupTable, GroupTrouble } from './group-table.ts'
import type { ParsedRecord, RecordIssue } from './model.ts'

/** How the rows of one file are put together. */
export interface Grouping {
  table: GroupTable
  columns: readonly string[]
  /** By index: columns that hold the product id. */
  headColumns: readonly number[]
  /** The column that names other rows, for messages. */
  linkColumn: string | undefined
}

/** One record of all rows of a product, which are given in file order. */
export function groupRows(rows: readonly ParsedRecord[], grouping: Grouping): ParsedRecord {
  const { table, columns, headColumns } = grouping
  const head = rows.find(({ record }) => !table.isChild(record)) ?? (rows[0] as ParsedRecord)
  const ordered = [head, ...rows.filter((row) => row !== head)]
  const ofHead = new Set(headColumns)
  const cells = columns.map((_, index) =>
    ofHead.has(index) ? head.cells[index] : firstContent(ordered, index),
  )
  const issues = rows.flatMap((row) => [...(row.issues ?? []), ...troubleIssue(row, grouping)])
  return { ...head, cells, rows: ordered, ...(issues.length > 0 ? { issues } : {}) }
}

/** What is wrong with the other rows of a product of which one cannot be read. */
export function siblingIssue({ record, line }: ParsedRecord, culprit: number): RecordIssue {
  const remedy = 'correct that one and drop all of them together'
  const message = `record ${culprit}, another row of the same product, is rejected; ${remedy}`
  return { record, line, field: undefined, code: 'row-of-rejected', message, remedy, severity: 'reject' }
}

function firstContent(rows: readonly ParsedRecord[], index: number): unknown {
  for (const { cells } of rows) if (!isEmpty(cells[index])) return cells[index]
  return rows[0]?.cells[index]
}

function isEmpty(cell: unknown): boolean {
  return cell === undefined || cell === null || (typeof cell === 'string' && cell.trim() === '')
}

/** What is wrong, and what to do. */
const texts: Readonly<Record<GroupTrouble, readonly [found: string, remedy: string]>> = {
  'no-parent': [
    'expected the name of a row of this file; taken as a product of its own',
    'export the parent with it, or correct the name',
  ],
  'parent-cycle': [
    'and that row belongs to this one in turn; taken as a product of its own',
    'correct one of the names',
  ],
  'parent-ambiguous': [
    'and several products have it; the first is taken',
    'give each row a name of its own in group.names',
  ],
  'no-member': ['of which at least one is no row of this file', 'export them together, or correct the list'],
}

function troubleIssue(row: ParsedRecord, { table, columns, linkColumn }: Grouping): RecordIssue[] {
  const code = table.troubleOf(row.record)
  if (code === undefined) return []
  const cell = linkColumn === undefined ? undefined : row.cells[columns.indexOf(linkColumn)]
  const value = typeof cell === 'string' && cell !== '' ? cell.slice(0, 80) : undefined
  const { record, line } = row
  const [found, remedy] = texts[code]
  const message = `found ${value === undefined ? 'a link' : JSON.stringify(value)}, ${found}: ${remedy}`
  return [{ record, line, field: linkColumn, code, message, value, remedy, severity: 'warn' }]
}
