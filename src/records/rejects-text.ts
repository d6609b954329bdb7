import { encodeText } from './encode-text.ts'
import { type Dialect, type ParsedRecord, reasonColumn } from './model.ts'

/** Writes rejected records as text of the dialect they were read in, with the reason as first column or key. */
export class RejectsText {
  readonly #dialect: Dialect
  readonly #columns: readonly string[]
  /** A file of rejects that was dropped again has the column already. */
  readonly #oldReason: number

  constructor(dialect: Dialect, columns: readonly string[]) {
    this.#dialect = dialect
    this.#columns = columns
    this.#oldReason = columns.indexOf(reasonColumn)
  }

  /** What the file begins with: byte order mark and header. */
  get head(): Buffer {
    const { type, basis } = this.#dialect
    const mark = basis.encoding === 'bom' ? '\ufeff' : ''
    const header = type === 'csv' ? this.#csvLine([reasonColumn, ...this.#withoutReason(this.#columns)]) : ''
    return encodeText(mark + header, this.#dialect.encoding)
  }

  /** One record; cells that are too few or too many stay so. */
  record(record: ParsedRecord, reason: string): Buffer {
    const text =
      this.#dialect.type === 'csv'
        ? this.#csvLine([this.#oneLine(reason), ...this.#withoutReason(record.cells.map(textOf))])
        : `${JSON.stringify(this.#object(record, reason))}\n`
    return encodeText(text, this.#dialect.encoding)
  }

  /** Without quotes nothing can enclose what would end the cell. */
  #oneLine(reason: string): string {
    const line = reason.replace(/\s+/g, ' ')
    return this.#dialect.quote === undefined ? line.replaceAll(this.#dialect.delimiter, ' ') : line
  }

  #withoutReason(cells: readonly string[]): string[] {
    return cells.filter((_, index) => index !== this.#oldReason)
  }

  #csvLine(cells: readonly string[]): string {
    const { delimiter, lineEnd } = this.#dialect
    return cells.map((cell) => this.#csvCell(cell)).join(delimiter) + lineEnd
  }

  #csvCell(cell: string): string {
    const { quote, delimiter } = this.#dialect
    if (quote === undefined) return cell
    const needed = cell.includes(quote) || cell.includes(delimiter) || /[\r\n]/.test(cell)
    return needed ? quote + cell.replaceAll(quote, quote + quote) + quote : cell
  }

  #object({ source, cells }: ParsedRecord, reason: string): Record<string, unknown> {
    // A line that is no object cannot be given a key: its text is kept for whoever repairs it.
    if (typeof source === 'string') return { [reasonColumn]: reason, catalogd_text: source }
    const entries = source
      ? Object.entries(source)
      : this.#columns.map((column, index) => [column, cells[index]] as const)
    const kept = entries.filter(([key]) => key !== reasonColumn)
    return Object.fromEntries([[reasonColumn, reason], ...kept])
  }
}

function textOf(cell: unknown): string {
  return cell === undefined || cell === null ? '' : String(cell)
}
