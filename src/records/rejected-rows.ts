import type { ParsedRecord, RecordIssue, RejectedRecord } from './model.ts'

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
