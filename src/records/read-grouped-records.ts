import { tmpdir } from 'node:os'
import type { GroupTable, GroupTrouble } from './group-table.ts'
import { HeldRows } from './held-rows.ts'
import type { PassResult } from './judge-model.ts'
import {
  issueOf,
  type ParsedRecord,
  type RecordBatch,
  type RecordIssue,
  type RejectedRecord,
} from './model.ts'
import { type ReadOptions, readRecords } from './read-records.ts'

interface GroupedReadOptions extends ReadOptions {
  /** From the first pass. */
  grouping?: PassResult['grouping']
  /** Memory that waiting rows may take, in bytes. */
  heldBytesMax?: number
}

/** Of one batch, like those that are read. */
const readyRowsMax = 128

/**
 * The second pass with the rows of one product as one record, wherever in the file they stand: it comes with the last of
 * them. A rejected row rejects all rows of its product. Without grouping, the records as they are.
 */
export async function* readGroupedRecords(options: GroupedReadOptions): AsyncGenerator<RecordBatch> {
  const { grouping, columns, recordBytes, spillDir = tmpdir(), heldBytesMax = 64 * 2 ** 20 } = options
  if (!grouping) {
    yield* readRecords(options)
    return
  }
  const { table, links } = grouping
  const { headColumns, column: linkColumn } = links
  await using held = new HeldRows({ dir: spillDir, bytesMax: heldBytesMax })
  const groups = new OpenGroups(
    { table, columns, headColumns, linkColumn },
    { held, groupBytesMax: recordBytes },
  )
  for await (const { records, rejected, bytesRead } of readRecords(options)) {
    for (const { row, rejection } of inFileOrder(records, rejected)) {
      await groups.take(row, rejection)
      if (groups.readyRows >= readyRowsMax) yield { ...groups.flush(), bytesRead }
    }
    yield { ...groups.flush(), bytesRead }
  }
}

function inFileOrder(records: readonly ParsedRecord[], rejected: readonly RejectedRecord[]) {
  const rows: { row: ParsedRecord; rejection?: RejectedRecord }[] = records.map((row) => ({ row }))
  if (rejected.length === 0) return rows
  rows.push(...rejected.map((row) => ({ row, rejection: row })))
  return rows.sort((one, other) => one.row.record - other.row.record)
}

/**
 * Rows come in one after the other; with the last row of its group the whole group is ready. A row that rejects its
 * group makes the rows before it ready at once, and each row after it as it comes: nothing is held for them.
 */
class OpenGroups {
  readonly #grouping: Grouping
  readonly #held: HeldRows
  readonly #groupBytesMax: number
  /** By group: the row that rejects it. Until its last row has come. */
  readonly #culprits = new Map<number, number>()
  #records: ParsedRecord[] = []
  #rejected: RejectedRecord[] = []
  #readyRows = 0

  constructor(grouping: Grouping, options: { held: HeldRows; groupBytesMax: number }) {
    this.#grouping = grouping
    this.#held = options.held
    this.#groupBytesMax = options.groupBytesMax
  }

  /** In file order. Await each call before the next. */
  async take(row: ParsedRecord, rejection: RejectedRecord | undefined): Promise<void> {
    const { table } = this.#grouping
    const group = table.groupOf(row.record)
    const isLast = table.endsGroup(row.record)
    const culprit = this.#culprits.get(group)
    if (culprit !== undefined) this.#rejected.push(rest(rejection ?? row, culprit))
    else if (rejection) await this.#reject(group, rejection)
    else if (isLast) this.#addGroup([...(await this.#held.take(group)), row])
    else if ((await this.#held.add(group, row)) > this.#groupBytesMax)
      await this.#reject(group, this.#tooLarge(row))
    if (isLast) this.#culprits.delete(group)
  }

  get readyRows(): number {
    return this.#readyRows + this.#rejected.length
  }

  flush(): Omit<RecordBatch, 'bytesRead'> {
    const [records, rejected] = [this.#records, this.#rejected]
    this.#records = []
    this.#rejected = []
    this.#readyRows = 0
    return { records, rejected }
  }

  #addGroup(rows: readonly ParsedRecord[]): void {
    this.#records.push(groupRows(rows, this.#grouping))
    this.#readyRows += rows.length
  }

  async #reject(group: number, rejection: RejectedRecord): Promise<void> {
    const { record } = rejection
    for (const row of await this.#held.take(group))
      if (row.record !== record) this.#rejected.push(rest(row, record))
    this.#rejected.push(rejection)
    this.#culprits.set(group, record)
  }

  #tooLarge(row: ParsedRecord): RejectedRecord {
    const issue = issueOf(row, {
      code: 'group-size',
      found: `the rows of its product take more than ${this.#groupBytesMax} bytes together`,
      remedy:
        'check that fields.product_id and group make products of the right rows, or raise format.recordBytes',
    })
    return { ...row, issues: [issue] }
  }
}

function rest(row: ParsedRecord | RejectedRecord, culprit: number): RejectedRecord {
  const own = row.issues?.some(({ severity }) => severity === 'reject') ? row.issues : undefined
  return { ...row, issues: own ?? [siblingIssue(row, culprit)], isRest: true, culprit }
}

interface Grouping {
  table: GroupTable
  columns: readonly string[]
  /** By index: columns that hold the product id. */
  headColumns: readonly number[]
  /** The column that names other rows, for messages. */
  linkColumn: string | undefined
}

/** One record of all rows of a product, which are given in file order. */
function groupRows(rows: readonly ParsedRecord[], grouping: Grouping): ParsedRecord {
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
function siblingIssue(row: ParsedRecord, culprit: number): RecordIssue {
  return issueOf(row, {
    code: 'row-of-rejected',
    found: `record ${culprit}, another row of the same product, is rejected`,
    remedy: 'correct that one and drop all of them together',
  })
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
