import type { ParsedRecord, RecordIssue } from './model.ts'
import { isCellError } from './xlsx-text.ts'

/** The first cell of a spreadsheet's row that holds an error in place of a value: such a row is rejected. */
export function checkCellErrors(
  { record, line, cells }: ParsedRecord,
  columns: readonly string[],
): RecordIssue[] {
  const index = cells.findIndex(isCellError)
  if (index < 0) return []
  return [
    {
      record,
      line,
      field: columns[index],
      code: 'cell-error',
      message: `holds ${String(cells[index])} in place of a value: correct the formula, or open the spreadsheet and save it, so that its formulas are calculated`,
      severity: 'reject',
    },
  ]
}
