import type { ParsedRecord } from './model.ts'

/** What of the file a record was made from: its rows where it has several, before any transform. */
export function originalRows(record: ParsedRecord): readonly ParsedRecord[] {
  const given = record.given ?? record
  return given.rows ?? [given]
}
