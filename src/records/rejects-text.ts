import iconv from 'iconv-lite'
import type { Encoding } from '../config/format-model.ts'
import { reasonOf } from '../lib/reason-of.ts'
import { type JsonPath, parseJsonPath } from './json-path.ts'
import type { Dialect, ParsedRecord, RecordIssue, RejectedRecord } from './model.ts'
import { rejectColumns } from './reject-columns.ts'

/** How rejected records become a file that can be corrected and dropped again. */
export interface RejectsFormat {
  readonly head: Buffer
  /** The record at `index`, counted from 0. */
  record(record: ParsedRecord, notes: RejectNotes, index: number): Buffer
  readonly tail: Buffer
}

/** Programs that show tables take what begins so for a formula. */
const formulaStart = /^[=+\-@＝＋－＠]/

const ownColumns: ReadonlySet<string> = new Set(rejectColumns)

/**
 * Writes rejected records as CSV, NDJSON or JSON as they were read, behind columns or keys that say what is wrong with
 * each. The cells of the record stay as they are, whatever they hold, so that they can be read again.
 */
export class RejectsText implements RejectsFormat {
  readonly #dialect: Dialect
  readonly #columns: readonly string[]
  readonly #encoding: Encoding
  readonly #mark: string
  /** A file of rejects that was dropped again has these columns already. */
  readonly #oldPlaces: ReadonlySet<number>

  constructor(dialect: Dialect, columns: readonly string[]) {
    this.#dialect = dialect
    // A few records are too little text to guess by again; a mark counts before any guess.
    const { encoding, basis } = dialect
    const isGuessed = basis.encoding === 'detected' && !/^utf-|^windows-1252$/.test(encoding)
    this.#encoding = isGuessed ? 'utf-8' : encoding
    this.#mark = isGuessed || basis.encoding === 'bom' ? '\ufeff' : ''
    this.#columns = columns
    this.#oldPlaces = new Set(columns.flatMap((name, place) => (ownColumns.has(name) ? [place] : [])))
  }

  /** What the file begins with: byte order mark and header. */
  get head(): Buffer {
    return encodeText(this.#mark + this.#header, this.#encoding)
  }

  get tail(): Buffer {
    if (this.#dialect.type !== 'json') return Buffer.alloc(0)
    const { keys, around } = this.#path
    return encodeText(`\n${around === 'array' ? ']' : '}'}${'}'.repeat(keys.length)}\n`, this.#encoding)
  }

  get #header(): string {
    const { type } = this.#dialect
    if (type === 'csv') return this.#csvLine([...rejectColumns, ...this.#withoutOld(this.#columns)])
    if (type !== 'json') return ''
    const { keys, around } = this.#path
    return `${keys.map((key) => `{${JSON.stringify(key)}:`).join('')}${around === 'array' ? '[' : '{'}\n`
  }

  /** Of a JSON file: the feed may be configured to read just what stands there. */
  get #path(): JsonPath {
    return parseJsonPath(this.#dialect.path ?? '')
  }

  /** One record; cells that are too few or too many stay so. */
  record(record: ParsedRecord, notes: RejectNotes, index: number): Buffer {
    return encodeText(this.#recordText(record, notes, index), this.#encoding)
  }

  #recordText(record: ParsedRecord, notes: RejectNotes, index: number): string {
    const { type } = this.#dialect
    if (type === 'csv') {
      return this.#csvLine([...this.#ownCells(notes), ...this.#withoutOld(record.cells.map(textOf))])
    }
    const object = JSON.stringify(this.#object(record, notes))
    if (type !== 'json') return `${object}\n`
    const key = this.#path.around === 'array' ? '' : `"${index + 1}":`
    return `${index === 0 ? '' : ',\n'}${key}${object}`
  }

  #ownCells(notes: RejectNotes): string[] {
    const { delimiter, quote } = this.#dialect
    const texts = Object.values(textsOf(notes, quote === undefined ? ' / ' : '\n'))
    return texts.map((text) => {
      const shown = formulaStart.test(text) ? `'${text}` : text
      // Without quotes nothing can enclose what would end the cell; and single quotes are those of a file without double ones.
      if (quote === undefined) return shown.replaceAll(delimiter, ' ')
      return quote === "'" ? shown.replaceAll('"', "'") : shown
    })
  }

  /** A record too short to hold them, such as one that could not be parsed, is kept whole. */
  #withoutOld(cells: readonly string[]): readonly string[] {
    if (cells.length <= this.#oldPlaces.size) return cells
    return cells.filter((_, place) => !this.#oldPlaces.has(place))
  }

  #csvLine(cells: readonly string[]): string {
    const { delimiter, lineEnd } = this.#dialect
    return cells.map((cell) => this.#csvCell(cell)).join(delimiter) + lineEnd
  }

  #csvCell(cell: string): string {
    const { quote, delimiter } = this.#dialect
    if (quote === undefined) return cell
    // Single quotes are seen where the header stands in them.
    const needed = quote === "'" || cell.includes(quote) || cell.includes(delimiter) || /[\r\n]/.test(cell)
    return needed ? quote + cell.replaceAll(quote, quote + quote) + quote : cell
  }

  #object({ source, cells }: ParsedRecord, notes: RejectNotes): Record<string, unknown> {
    const own = { ...textsOf(notes, '\n'), catalogd_line: notes.line }
    // A line that is no object cannot be given a key: its text is kept for whoever repairs it.
    if (typeof source === 'string') return { ...own, catalogd_text: source }
    const entries = source
      ? Object.entries(source)
      : this.#columns.map((column, index) => [column, cells[index]] as const)
    const kept = entries.filter(([key]) => !ownColumns.has(key))
    return Object.fromEntries([...Object.entries(own), ...kept])
  }
}

/** By column. Where a record has several problems, each stands on a line of its own, the same in every column. */
function textsOf(
  { line, notes }: RejectNotes,
  between: string,
): Record<(typeof rejectColumns)[number], string> {
  const column = (name: 'field' | 'value' | 'reason' | 'remedy') => {
    const texts = notes.map((note) => note[name])
    return texts.every((text) => text === '') ? '' : texts.join(between)
  }
  return {
    catalogd_line: String(line),
    catalogd_field: column('field'),
    catalogd_value: column('value'),
    catalogd_reason: column('reason'),
    catalogd_remedy: column('remedy'),
  }
}

function textOf(cell: unknown): string {
  return cell === undefined || cell === null ? '' : String(cell)
}

/** Text as bytes of the encoding; characters that it does not have become `?`. */
export function encodeText(text: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8')
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16()
  // By whole characters: the library's tables of single bytes know halves of pairs only, and write two marks for them.
  const known = text.replace(/[\u{10000}-\u{10ffff}]/gu, (character) =>
    hasPairs.test(encoding) ? character : '?',
  )
  return iconv.encode(known, encoding, { addBOM: false })
}

const hasPairs = /^(utf-32|gb18030|big5)/

/** What a file of rejected records says about one of them: a text each, on one line, empty where there is nothing to say. */
interface RejectNote {
  field: string
  value: string
  reason: string
  remedy: string
}

export interface RejectNotes {
  /** Of the record in the file it was read from. */
  line: number
  /** At least one. */
  notes: readonly RejectNote[]
}

/** Why a record is rejected; its warnings only where it has nothing else. */
export function notesOf({ line, issues }: RejectedRecord): RejectNotes {
  const reasons = issues.filter(({ severity }) => severity === 'reject')
  return { line, notes: (reasons.length > 0 ? reasons : issues).map(noteOf) }
}

function noteOf(issue: RecordIssue): RejectNote {
  const { field = '', value = '', remedy = '' } = issue
  return {
    field: oneLine(field),
    value: oneLine(value),
    reason: oneLine(reasonOf(issue)),
    remedy: oneLine(remedy),
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
