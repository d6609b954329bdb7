import { BlankTest } from './blank-test.ts'
import type { CellSyntax } from './cells.ts'
import { delimiterLine } from './delimiter-line.ts'
import { KeptSplitter, type SplitterOptions } from './kept-splitter.ts'
import type { Dialect, RecordSlice } from './model.ts'
import { NextByte } from './next-byte.ts'

interface LineOptions extends SplitterOptions, CellSyntax {
  lineEnd: Dialect['lineEnd']
  /** The text is CSV, with a header or without: a `sep=` line, or one of comments, may stand before the first record. */
  hasCells: boolean
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Cuts text into records exactly where csv-parse does, at the speed of searching for line ends and quotes.
 *
 * Between chunks it stands in one of two states: outside quotes, where a line end ends the record and a quote right
 * after a delimiter or at the record's start opens a quoted part; or inside, where only a quote that is not doubled
 * leads out. All before `#position` has been looked at; text from `#start` on is kept, since its record has not ended.
 * The buffer is used again with every chunk: slices are valid until the next `push`.
 */
export class RecordSplitter extends KeptSplitter {
  readonly #options: LineOptions
  readonly #blank: BlankTest
  readonly #delimiter: Buffer
  readonly #quote: number
  readonly #feeds = new NextByte(lineFeed)
  readonly #returns: NextByte | undefined
  readonly #quotes: NextByte | undefined
  #text = this.kept.bytes
  #start = 0
  #position = 0
  #inQuotes = false
  #final = false
  /** The line at `#position`, and those where the record and its last quoted part began (0: it has none). */
  #line = 1
  #recordLine = 1
  #quoteLine = 0
  #openEnded = false

  constructor(options: LineOptions) {
    super(options)
    this.#options = options
    this.#blank = new BlankTest(options)
    this.#delimiter = Buffer.from(options.delimiter, 'utf8')
    this.#quote = options.quote === undefined ? -1 : options.quote.charCodeAt(0)
    this.#quotes = options.quote === undefined ? undefined : new NextByte(this.#quote)
    this.#returns = options.lineEnd === '\r' ? new NextByte(carriageReturn) : undefined
  }

  override get openEnded(): boolean {
    return this.#openEnded
  }

  *push(chunk: Buffer): Generator<RecordSlice[]> {
    this.#append(chunk)
    yield* this.inBatches(() => this.#next())
    this.#checkLength(this.kept.length - this.#start)
  }

  /** The last record. Slices of the last chunk stay valid. */
  *end(): Generator<RecordSlice[]> {
    this.#final = true
    this.#text = this.kept.bytes
    this.#attach(0)
    yield* this.inBatches(() => this.#next())
    if (this.#inQuotes) throw this.#unclosed()
    if (this.#start === this.kept.length) return
    const last = this.#slice(this.kept.length)
    this.#start = this.kept.length
    if (last === undefined) return
    this.#openEnded = true
    yield [last]
  }

  #append(chunk: Buffer): void {
    const shift = this.#start
    this.kept.append(chunk, shift)
    const { bytes } = this.kept
    // A carriage return at the border may be half a line end: it is looked at with the next chunk.
    const held = this.#returns && bytes.at(-1) === carriageReturn ? 1 : 0
    this.#text = bytes.subarray(0, bytes.length - held)
    this.#start = 0
    this.#position -= shift
    this.#attach(shift)
  }

  #attach(shift: number): void {
    for (const search of [this.#feeds, this.#returns, this.#quotes]) search?.attach(this.#text, shift)
  }

  #next(): RecordSlice | undefined {
    for (let lineEnd = this.#findEnd(); lineEnd >= 0; lineEnd = this.#findEnd()) {
      const slice = this.#slice(this.#withoutReturn(lineEnd))
      this.#start = this.#position = lineEnd + 1
      this.#line += 1
      this.#recordLine = this.#line
      this.#quoteLine = 0
      if (slice !== undefined) return slice
    }
    return undefined
  }

  /** The line end that ends the current record, or -1 when the text ends first. */
  #findEnd(): number {
    for (;;) {
      if (this.#inQuotes && !this.#leaveQuotes()) return -1
      const lineEnd = this.#lineEnd(this.#position)
      const quote = this.#quotes?.from(this.#position) ?? Number.POSITIVE_INFINITY
      if (lineEnd < quote) return lineEnd
      if (quote === Number.POSITIVE_INFINITY) {
        this.#position = this.#text.length
        return -1
      }
      this.#position = quote + 1
      if (!this.#beginsCell(quote)) continue
      this.#inQuotes = true
      this.#quoteLine = this.#line
    }
  }

  /** False when the text ends before the quoted part does. */
  #leaveQuotes(): boolean {
    for (let from = this.#position; ; ) {
      const quote = this.#quotes?.from(from) ?? Number.POSITIVE_INFINITY
      const last = this.#text.length - 1
      // Whether a quote at the border is doubled shows with the next chunk.
      if (quote > last || (quote === last && !this.#final)) {
        this.#advance(Math.min(quote, last + 1))
        return false
      }
      if (this.#text[quote + 1] === this.#quote) {
        from = quote + 2
        continue
      }
      this.#advance(quote + 1)
      this.#inQuotes = false
      return true
    }
  }

  /** Moves on inside a quoted part, counting its lines. */
  #advance(position: number): void {
    for (let at = this.#lineEnd(this.#position); at < position; at = this.#lineEnd(at + 1)) this.#line += 1
    this.#position = position
  }

  /** Outside quotes, bytes that look like a delimiter before a quote are one: quotes and line ends are no part of it. */
  #beginsCell(quote: number): boolean {
    if (quote === this.#start) return true
    const from = quote - this.#delimiter.length
    if (from < this.#start) return false
    for (let part = 0; part < this.#delimiter.length; part++) {
      if (this.#text[from + part] !== this.#delimiter[part]) return false
    }
    return true
  }

  #lineEnd(from: number): number {
    const feed = this.#feeds.from(from)
    if (this.#returns === undefined) return feed
    const carriage = this.#returns.from(from)
    return carriage + 1 === feed ? feed : Math.min(carriage, feed)
  }

  #withoutReturn(lineEnd: number): number {
    const both = this.#text[lineEnd] === lineFeed && this.#text[lineEnd - 1] === carriageReturn
    return both && lineEnd > this.#start ? lineEnd - 1 : lineEnd
  }

  /** Undefined for what is no record: an empty line, one whose cells are all empty, a `sep=` or comments above the header. */
  #slice(end: number): RecordSlice | undefined {
    // There may be millions of empty lines.
    if (end === this.#start) return undefined
    const bytes = this.kept.bytes.subarray(this.#start, end)
    if (this.#blank.isBlank(bytes)) return undefined
    const { hasCells, firstRecord } = this.#options
    if (hasCells && this.record === firstRecord && this.#isAbove(bytes)) return undefined
    this.#checkLength(bytes.length)
    return { bytes, record: this.record++, line: this.#recordLine, offset: this.kept.offset + this.#start }
  }

  #isAbove(line: Buffer): boolean {
    return delimiterLine(line) !== undefined || isCommentLine(line, this.#options.delimiter)
  }

  #checkLength(bytes: number): void {
    if (bytes <= this.#options.recordBytes) return
    const quoted = this.#quoteLine > 0 ? ` (its last quoted cell opens in line ${this.#quoteLine})` : ''
    throw this.refusal({
      code: 'record-too-long',
      found: `the record that begins in line ${this.#recordLine} is longer than ${this.#options.recordBytes} bytes${quoted}`,
      hint:
        this.#quoteLine > 0
          ? 'Close the quote, set format.quote: none if quotes are ordinary characters in this file, or raise format.recordBytes'
          : 'Check that the file has line ends and is what it should be, or raise format.recordBytes',
    })
  }

  #unclosed(): Error {
    return this.refusal({
      code: 'truncated',
      found: `the quoted cell that opens in line ${this.#quoteLine} is never closed (record ${this.record}, which begins in line ${this.#recordLine})`,
      hint: 'The file was cut off, or the quote is an ordinary character: export it again, or set format.quote: none',
    })
  }
}

const commentBytesMax = 2 ** 16
const quoted = /"(?:[^"]|"")*"/g

/** A first line that only says what the columns below it are for, as templates of Meta have it: all cells begin with `# `. */
function isCommentLine(line: Buffer, delimiter: string): boolean {
  if (line.length > commentBytesMax || !/^"?# /.test(line.toString('latin1', 0, 3))) return false
  const cells = line
    .toString('utf8')
    .replace(quoted, (cell) => cell.slice(1, -1).replaceAll(delimiter, ' '))
    .split(delimiter)
    .filter((cell) => cell.trim() !== '')
  return cells.length > 1 && cells.every((cell) => cell.startsWith('# '))
}
