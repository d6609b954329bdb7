import { describeError } from '../lib/errors.ts'
import type { IdReader } from './judge-model.ts'
import { lookUp } from './look-up.ts'
import type { ParsedRecord, RecordBatch, RecordIssue, RejectedRecord } from './model.ts'
import { packRepeated, unpackRepeated } from './pack-repeated.ts'
import type { TransformRecord } from './transform-record.ts'
import { Transformer, type TransformOutcome } from './transformer.ts'

/** What stands between reading records and mapping them. */
export interface TransformStep {
  file: string
  limitMs: number
  /** Those of the file, and after them those that the transform may add. */
  columns: readonly string[]
  idReader: Pick<IdReader, 'indices' | 'read'>
}

/** Puts in place of each record what the transform makes of it; without a step, the batches as they are. */
export async function* transformRecords(
  batches: AsyncIterable<RecordBatch>,
  step: TransformStep | undefined,
  options: { name: string; onMoved?: (() => void) | undefined },
): AsyncGenerator<RecordBatch> {
  if (!step) {
    yield* batches
    return
  }
  await using transformer = new Transformer({ ...step, ...options })
  for await (const batch of batches) {
    const given = batch.records.map(
      (record) => packRepeated(givenOf(record, step.columns)) as TransformRecord,
    )
    yield settle(batch, await transformer.run(given), step)
  }
}

function settle(batch: RecordBatch, outcomes: readonly TransformOutcome[], step: TransformStep): RecordBatch {
  const records: ParsedRecord[] = []
  const rejected = [...batch.rejected]
  const skipped: RecordIssue[] = []
  for (const [index, record] of batch.records.entries()) {
    const result = resultOf(record, outcomes[index] as TransformOutcome, step)
    if ('cells' in result) records.push(result)
    else if (result.severity === 'warn') skipped.push(result)
    else rejected.push(...rejectedRows(record, [result]))
  }
  return { ...batch, records, rejected, skipped }
}

function resultOf(
  record: ParsedRecord,
  outcome: TransformOutcome,
  step: TransformStep,
): ParsedRecord | RecordIssue {
  switch (outcome.kind) {
    case 'record': {
      const value = unpack(outcome.record)
      if (typeof value === 'string') return failedIssue(record, value)
      const { idReader, columns } = step
      const idOf = (cells: readonly unknown[]) => idReader.read(idReader.indices.map((index) => cells[index]))
      const made = madeOf(record, value, columns)
      return idOf(made.cells) === idOf(record.cells) ? made : issueOf(record, 'transform-id', ...idChanged)
    }
    case 'skipped':
      return {
        ...issueOf(record, 'transform-skipped', 'the transform skips it: nothing of it is applied'),
        severity: 'warn',
      }
    case 'failed':
      return failedIssue(record, outcome.reason)
    case 'late':
      return issueOf(
        record,
        'transform-time',
        `the transform was stopped: ${outcome.reason}`,
        'make it faster, or raise transform.timeout',
      )
  }
}

/** A sentence where it is no record. */
function unpack(made: TransformRecord): TransformRecord | string {
  try {
    return unpackRepeated(made) as TransformRecord
  } catch (error) {
    return describeError(error)
  }
}

function failedIssue(record: ParsedRecord, reason: string): RecordIssue {
  return issueOf(record, 'transform-failed', `the transform failed: ${reason}`, 'correct it or the record')
}

const idChanged = [
  'the transform changed its product_id, expected the one that the file gives it',
  'change other columns, or map product_id with a rule',
] as const

/** By column, the first of several with one name; or the whole object where the record is one. */
function givenOf(record: ParsedRecord, columns: readonly string[]): TransformRecord {
  const { cells, rows, source } = record
  const given: [string, unknown][] = typeof source === 'object' ? Object.entries(source) : []
  // A product of several rows has cells that stand in none of its objects together.
  const own =
    typeof source === 'object' ? columns.filter((column) => rows && Object.hasOwn(source, column)) : columns
  for (const column of own) {
    const cell = cells[columns.indexOf(column)]
    if (cell !== undefined) given.push([column, cell])
  }
  if (rows) given.push(['rows', rows.map((row) => givenOf(row, columns))])
  return Object.fromEntries(given)
}

function madeOf(record: ParsedRecord, value: TransformRecord, columns: readonly string[]): ParsedRecord {
  const cells = columns.map((column) => lookUp(value, column))
  const made: ParsedRecord = { ...record, cells, given: record }
  const { rows: madeRows, ...rest } = value
  if (typeof record.source === 'object') made.source = record.rows ? rest : value
  if (!record.rows || !Array.isArray(madeRows)) return made
  const given = record.rows
  made.rows = madeRows
    .filter((row) => typeof row === 'object' && row !== null)
    .map((row, index) => madeOf(given[index] ?? (given[0] as ParsedRecord), row, columns))
  return made
}

function issueOf(
  { record, line }: ParsedRecord,
  code: string,
  ...[found, remedy]: readonly [found: string, remedy?: string]
): RecordIssue {
  const message = remedy === undefined ? found : `${found}; ${remedy}`
  return { record, line, field: undefined, code, message, remedy, severity: 'reject' }
}

/** The rows of the file that a rejected record was made from, as they were before any transform. */
export function rejectedRows(record: ParsedRecord, issues: readonly RecordIssue[]): RejectedRecord[] {
  const given = record.given ?? record
  return (given.rows ?? [given]).map((row, index) => ({
    ...row,
    issues,
    culprit: record.record,
    ...(index === 0 ? {} : { isRest: true }),
  }))
}
