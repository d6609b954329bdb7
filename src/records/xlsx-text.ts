/** Characters that XML cannot hold are written as `_x000D_` by Excel, and an underscore that looks so as `_x005F_`. */
export function plainText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** What a cell whose formula was never calculated becomes: an empty cell could erase good data. */
export const notCalculated = '#NOT CALCULATED'

const otherError = '#ERROR!'

const cellErrors: ReadonlySet<unknown> = new Set([
  notCalculated,
  otherError,
  '#N/A',
  '#NAME?',
  '#NULL!',
  '#NUM!',
  '#VALUE!',
  '#REF!',
  '#DIV/0!',
  '#SPILL!',
  '#CALC!',
  '#GETTING_DATA',
])

/** Whether the cell of a spreadsheet holds no value but an error. */
export function isCellError(cell: unknown): boolean {
  return cellErrors.has(cell)
}

/** A cell that is an error by its type: some programs have names of their own for them (`Err:502`). */
export function errorText(name: string): string {
  return isCellError(name) ? name : otherError
}
