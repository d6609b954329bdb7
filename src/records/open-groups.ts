import { type Grouping, groupRows, siblingIssue } from './grouped-record.ts'
import type { HeldRows } from './held-rows.ts'
import type { ParsedRecord, RecordBatch, RecordIssue, RejectedRecord } from './model.ts'

/**
 * Rows come in one after the other; with the last row of its group the whole group is ready. A row that rejects its
 * group makes the rows before it ready at once, and each row after it as it comes: nothing is held for them.
 */
export class OpenGroups {
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
    const remedy =
      'check that fields.product_id and group make products of the right rows, or raise format.recordBytes'
    const issue: RecordIssue = {
      record: row.record,
      line: row.line,
      field: undefined,
      code: 'group-size',
      message: `the rows of its product take more than ${this.#groupBytesMax} bytes together; ${remedy}`,
      remedy,
      severity: 'reject',
    }
    return { ...row, issues: [issue] }
  }
}

function rest(row: ParsedRecord | RejectedRecord, culprit: number): RejectedRecord {
  const own = row.issues?.some(({ severity }) => severity === 'reject') ? row.issues : undefined
  return { ...row, issues: own ?? [siblingIssue(row, culprit)], isRest: true, culprit }
}
