import type { Encoding } from '../config/model.ts'
import { encodeText } from './encode-text.ts'
import { type Dialect, type ParsedRecord, reasonColumn } from './model.ts'

/** How rejected records become a file that can be corrected and dropped again. */
export interface RejectsFormat {
  /** What the file begins with. */
  readonly head: Buffer
  /** The record at `index`, counted from 0. */
  record(record: ParsedRecord, reason: string, index: number): Buffer
  /** What the file ends with. */
  readonly tail: Buffer
}

/** Writes rejected records as CSV, NDJSON or JSON as they were read, with the reason as first column or key. */
export class RejectsText implements RejectsFormat {
  readonly #dialect: Dialect
  readonly #columns: readonly string[]
  readonly #encoding: Encoding
  readonly #mark: string
  /** A file of rejects that was dropped again has the column already. */
  readonly #oldReason: number

  constructor(dialect: Dialect, columns: readonly string[]) {
    this.#dialect = dialect
    // A few records are too little text to guess by again; a mark counts before any guess.
    const { encoding, basis } = dialect
    const isGuessed = basis.encoding === 'detected' && !/^utf-|^windows-1252$/.test(encoding)
    this.#encoding = isGuessed ? 'utf-8' : encoding
    this.#mark = isGuessed || basis.encoding === 'bom' ? '\ufeff' : ''
    this.#columns = columns
    this.#oldReason = columns.indexOf(reasonColumn)
  }

  /** What the file begins with: byte order mark and header. */
  get head(): Buffer {
    return encodeText(this.#mark + this.#header, this.#encoding)
  }

  get tail(): Buffer {
    const text = this.#dialect.type === 'json' ? `\n]${'}'.repeat(this.#keys.length)}\n` : ''
    return encodeText(text, this.#encoding)
  }

  get #header(): string {
    const { type } = this.#dialect
    if (type === 'csv') return this.#csvLine([reasonColumn, ...this.#withoutReason(this.#columns)])
    return type === 'json' ? `${this.#keys.map((key) => `{${JSON.stringify(key)}:`).join('')}[\n` : ''
  }

  /** On the way to the array of a JSON file: the feed may be configured to read just that one. */
  get #keys(): readonly string[] {
    return this.#dialect.path ? this.#dialect.path.split('.') : []
  }

  /** One record; cells that are too few or too many stay so. */
  record(record: ParsedRecord, reason: string, index: number): Buffer {
    return encodeText(this.#recordText(record, reason, index), this.#encoding)
  }

  #recordText(record: ParsedRecord, reason: string, index: number): string {
    const { type } = this.#dialect
    if (type === 'csv') {
      return this.#csvLine([this.#oneLine(reason), ...this.#withoutReason(record.cells.map(textOf))])
    }
    const object = JSON.stringify(this.#object(record, reason))
    return type === 'json' ? `${index === 0 ? '' : ',\n'}${object}` : `${object}\n`
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
