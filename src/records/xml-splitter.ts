import { KeptSplitter, type SplitterOptions } from './kept-splitter.ts'
import { elementsMax, tagBytesMax } from './limits.ts'
import type { RecordFrame, RecordSlice } from './model.ts'
import { fileRefusal, noRecordsRefusal } from './read-file.ts'
import { readStartTag, type XmlScope } from './xml-items.ts'
import { readToken, type XmlToken } from './xml-token.ts'

export interface XmlOptions extends SplitterOptions {
  /** From the root to the record element, `rss/channel/item`. */
  path: string
}

/** An element around the records. */
interface Surrounding {
  tag: string
  name: string
  /** Its name and those around it are the beginning of the path. */
  onPath: boolean
  scope: XmlScope
}

/** At the head of a file of rejected records, with their path: plays the part of the reason column. */
export const rejectsInstruction = 'catalogd-rejects'

const noScope: XmlScope = { version: '1.0', namespaces: {} }

/**
 * Cuts well-formed XML at the elements of one path, by the bytes of its markup alone: the first pass has it checked by
 * a parser, but not before it is cut: what would take the parser long or much memory is refused here. Between chunks it stands outside of all records, where `#around` lists the open elements, or inside of one,
 * where `#depth` counts those open in it. All before `#position` has been looked at; text from `#start` on is kept.
 */
export class XmlSplitter extends KeptSplitter {
  readonly #options: XmlOptions
  readonly #path: readonly string[]
  readonly #lines = new LineCount()
  readonly #around: Surrounding[] = []
  #start = 0
  #position = 0
  #counted = 0
  #depth = 0
  #elements = 0
  /** Up to where the end of the last token was looked for in vain. */
  #seen = 0
  /** The file holds records that were rejected before. */
  isRejects = false
  #documentScope = noScope
  #recordScope = noScope
  #recordLine = 0
  #frame: RecordFrame | undefined
  /** Elements were seen, but the one around the records (false) was not (true). */
  #isElsewhere: boolean | undefined
  #unfinished: XmlToken | undefined
  #tokenEnd = 0

  constructor(options: XmlOptions) {
    super(options)
    this.#options = options
    this.#path = options.path.split('/')
  }

  override get frame(): RecordFrame | undefined {
    return this.#frame
  }

  /** Up to where the text has been cut, in the whole of it: nothing before belongs to a record that has not ended. */
  get cutBytes(): number {
    return this.kept.offset + (this.#depth > 0 ? this.#start : this.#position)
  }

  /** The text between two places of the whole; from `cutBytes` on until the next chunk is pushed. */
  textBetween(from: number, to: number): Buffer {
    return this.kept.bytes.subarray(from - this.kept.offset, to - this.kept.offset)
  }

  /** After the last chunk: what begins and never ends, and the line in which it does. */
  get unfinished(): string | undefined {
    const token = this.#unfinished
    if (token === undefined) return undefined
    this.#countTo(token.start)
    const words = { comment: 'comment', cdata: 'CDATA section', instruction: 'processing instruction' }
    const what = token.kind in words ? words[token.kind as keyof typeof words] : 'tag'
    return `the ${what} that begins in line ${this.#lines.line} never ends`
  }

  *push(chunk: Buffer): Generator<RecordSlice[]> {
    this.#countTo(this.#start)
    this.kept.append(chunk, this.#start)
    this.#position -= this.#start
    this.#counted -= this.#start
    this.#seen -= this.#start
    this.#start = 0
    yield* this.inBatches(() => this.#nextRecord())
    if (this.#depth === 0) this.#start = this.#position
    this.#checkLength(this.textBytes - (this.#depth > 0 ? this.kept.offset + this.#start : this.#tokenEnd))
  }

  end(): Iterable<RecordSlice[]> {
    const { name, path, firstRecord } = this.#options
    if (this.record === firstRecord && this.#isElsewhere) throw noRecordsRefusal(name, path)
    return []
  }

  #nextRecord(): RecordSlice | undefined {
    for (let token = this.#next(); token !== undefined; token = this.#next()) {
      const slice = this.#enter(token)
      if (slice !== undefined) return slice
    }
    return undefined
  }

  /** The next complete token; `#position` moves behind it, or to where an incomplete one begins. */
  #next(): XmlToken | undefined {
    const text = this.kept.bytes
    const start = text.indexOf(0x3c, this.#position)
    this.#position = start < 0 ? text.length : start
    this.#unfinished = undefined
    if (start < 0) return undefined
    const token = readToken(text, start, Math.max(start, this.#seen))
    if (token?.kind === 'doctype') throw this.#doctype(start)
    const end = token === undefined || token.end < 0 ? text.length : token.end
    if (token?.kind === 'start' && end - start > tagBytesMax) throw this.#tagTooLong(start)
    if (token !== undefined && token.end >= 0) {
      this.#position = token.end
      this.#tokenEnd = this.kept.offset + token.end
      return token
    }
    this.#seen = text.length
    this.#unfinished = token ?? { kind: 'start', start, end: -1 }
    return undefined
  }

  /** The record that this token ends. */
  #enter({ kind, start, end }: XmlToken): RecordSlice | undefined {
    if (kind === 'instruction' && this.#around.length === 0 && this.#depth === 0)
      this.#readInstruction(start, end)
    if (kind !== 'start' && kind !== 'end') return undefined
    const isEmpty = kind === 'start' && this.kept.bytes[end - 2] === 0x2f
    if (this.#depth > 0) {
      if (kind === 'start') this.#countElement()
      if (!isEmpty) this.#depth += kind === 'start' ? 1 : -1
      return this.#depth === 0 ? this.#slice(end) : undefined
    }
    if (kind === 'end') this.#around.pop()
    else if (this.#openAround(start, end, isEmpty)) {
      this.#countTo(start)
      this.#recordLine = this.#lines.line
      this.#start = start
      this.#elements = 1
      if (isEmpty) return this.#slice(end)
      this.#depth = 1
    }
    return undefined
  }

  /** True when a record begins; else the element is one around the records. */
  #openAround(start: number, end: number, isEmpty: boolean): boolean {
    const tag = this.kept.bytes.toString('utf8', start, end)
    const parent = this.#around.at(-1)
    const scope = parent?.scope ?? this.#documentScope
    const opened = readStartTag(tag, scope)
    const depth = this.#around.length
    const onPath = (parent?.onPath ?? true) && opened.key === this.#path[depth]
    if (onPath && depth === this.#path.length - 1) {
      this.#frame ??= {
        version: scope.version,
        start: this.#around.map(({ tag }) => tag),
        end: this.#around.map(({ name }) => name),
      }
      this.#recordScope = scope
      return true
    }
    if (!onPath) this.#isElsewhere ??= true
    else if (depth === this.#path.length - 2) this.#isElsewhere = false
    if (!isEmpty) this.#around.push({ tag, name: opened.name, onPath, scope: opened.scope })
    return false
  }

  #readInstruction(start: number, end: number): void {
    const text = this.kept.bytes.toString('utf8', start, end)
    if (/^<\?([^\s?]+)/.exec(text)?.[1] === rejectsInstruction) this.isRejects = true
    const version = /^<\?xml\s+version\s*=\s*["']([^"']*)["']/.exec(text)?.[1]
    if (version !== undefined) this.#documentScope = { ...noScope, version }
  }

  #slice(end: number): RecordSlice {
    const bytes = this.kept.bytes.subarray(this.#start, end)
    this.#checkLength(bytes.length)
    return {
      bytes,
      record: this.record++,
      line: this.#recordLine,
      offset: this.kept.offset + this.#start,
      scope: this.#recordScope,
    }
  }

  #countTo(position: number): void {
    if (position <= this.#counted) return
    this.#lines.add(this.kept.bytes.subarray(this.#counted, position))
    this.#counted = position
  }

  #countElement(): void {
    this.#elements += 1
    if (this.#elements <= elementsMax) return
    throw this.refusal({
      code: 'too-many-elements',
      found: `the record that begins in line ${this.#recordLine} has more than ${elementsMax} elements`,
      hint: `Check format.path (records are read at ${this.#options.path}), and that no end tag of a record is missing`,
    })
  }

  #tagTooLong(start: number): Error {
    this.#countTo(start)
    return this.refusal({
      code: 'record-too-long',
      found: `the tag that begins in line ${this.#lines.line} is longer than ${tagBytesMax} bytes`,
      hint: 'Check that the quotes of its attributes are closed; long texts belong into elements',
    })
  }

  /** Of a record, or of a comment, instruction or tag outside of records. */
  #checkLength(bytes: number): void {
    if (bytes <= this.#options.recordBytes) return
    this.#countTo(this.#start)
    const what =
      this.#depth > 0
        ? `the record that begins in line ${this.#recordLine}`
        : `what begins in line ${this.#lines.line}`
    throw this.refusal({
      code: 'record-too-long',
      found: `${what} is longer than ${this.#options.recordBytes} bytes`,
      hint: `Check format.path (records are read at ${this.#options.path}) and that no end tag is missing, or raise format.recordBytes`,
    })
  }

  #doctype(start: number): Error {
    this.#countTo(start)
    return doctypeRefusal(this.#options.name, this.#lines.line)
  }
}

/** Entities of one's own can make a small file endless. */
export function doctypeRefusal(name: string, line: number): Error {
  return fileRefusal({
    name,
    code: 'doctype',
    found: `line ${line} holds a document type declaration (<!DOCTYPE), which is never read`,
    hint: 'Export the feed without it: product feeds need no entities of their own',
  })
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Counts lines as XML does: `\n`, `\r\n` and a lone `\r` each end one. */
class LineCount {
  #line = 1
  #afterReturn = false

  get line(): number {
    return this.#line
  }

  /** Takes the next piece of the text. */
  add(bytes: Buffer): void {
    if (bytes.length === 0) return
    let feed = bytes.indexOf(lineFeed)
    if (feed === 0 && this.#afterReturn) feed = bytes.indexOf(lineFeed, 1)
    for (; feed >= 0; feed = bytes.indexOf(lineFeed, feed + 1)) this.#line += 1
    for (let at = bytes.indexOf(carriageReturn); at >= 0; at = bytes.indexOf(carriageReturn, at + 1)) {
      if (at + 1 === bytes.length || bytes[at + 1] !== lineFeed) this.#line += 1
    }
    this.#afterReturn = bytes[bytes.length - 1] === carriageReturn
  }
}
