import type { ParsedRecord, RecordIssue } from './model.ts'
import { isCellError } from './xlsx-text.ts'

/** The first cell of a spreadsheet's row that holds an error in place of a value: such a row is rejected. */
export function checkCellErrors(
  { record, line, cells }: ParsedRecord,
  columns: readonly string[],
): RecordIssue[] {
  const index = cells.findIndex(isCellError)
  if (index < 0) return []
  const value = String(cells[index])
  const remedy =
    'correct the formula, or open the spreadsheet and save it, so that its formulas are calculated'
  return [
    {
      record,
      line,
      field: columns[index],
      code: 'cell-error',
      message: `holds ${value} in place of a value: ${remedy}`,
      value,
      remedy,
      severity: 'reject',
    },
  ]
}
