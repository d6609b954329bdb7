import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import { privateFileMode, privateFolderMode } from '../lib/private-modes.ts'
import type { Dialect, ParsedRecord, RecordFrame, RejectedRecord } from './model.ts'
import { notesOf, type RejectNotes, type RejectsFormat, RejectsText } from './rejects-text.ts'
import { rejectsInstruction } from './xml-splitter.ts'

/** Gathered before they go to the disk. */
const bufferedBytesMax = 64 * 2 ** 10
/** Of a file of rejected records, or twice what they were rejected from where that is more: what is wrong with each of very small ones takes far more than they do. */
const leastBytesMax = 64 * 2 ** 20

export function openRejectsWriter(options: {
  path: string
  dialect: Dialect
  columns: readonly string[]
  /** Of an XML file. */
  frame?: RecordFrame | undefined
  /** Of the text that they are rejected from. */
  decodedBytes: number
  bytesMax?: number
}): RejectsWriter {
  const { path, dialect, columns, frame, decodedBytes } = options
  const { bytesMax = Math.max(leastBytesMax, 2 * decodedBytes) } = options
  const format =
    dialect.type === 'xml' ? new RejectsXml(frame, dialect.path) : new RejectsText(dialect, columns)
  return new RejectsWriter({ path, format, bytesMax })
}

/**
 * Writes a file of rejected records that can be corrected and dropped again. Not begun (no file), then writing (file open, a buffer before it), then full (only what belongs to a product that is
 * begun is still written), then closed. A file from an earlier try is replaced.
 */
export class RejectsWriter implements AsyncDisposable {
  readonly path: string
  readonly #text: RejectsFormat
  readonly #bytesMax: number
  #count = 0
  #bytes = 0
  #isFull = false
  #leftOut = 0
  #leftOutFromLine: number | undefined
  /** What was offered last, by the record that rejects it. */
  #last: { culprit: number; isWritten: boolean } | undefined
  /** The last record in file order that rejects what was written. */
  #lastWritten = 0
  #lastLeftOut = 0
  #buffered: Buffer[] = []
  #bufferedBytes = 0
  #file: FileHandle | undefined
  #isClosed = false

  constructor({ path, format, bytesMax }: { path: string; format: RejectsFormat; bytesMax: number }) {
    this.path = path
    this.#text = format
    this.#bytesMax = bytesMax
  }

  get count(): number {
    return this.#count
  }

  /** Products, or else records, that were rejected when the file was as long as it may become. */
  get leftOut(): number {
    return this.#leftOut
  }

  /** Where the first of those begins. */
  get leftOutFromLine(): number | undefined {
    return this.#leftOutFromLine
  }

  /** Await each call before the next. */
  async write(record: RejectedRecord): Promise<void> {
    const bytes = this.#isFull && !this.#belongsToWritten(record) ? undefined : this.#bytesOf(record)
    const isWritten = bytes !== undefined && (this.#fits(bytes) || this.#belongsToWritten(record))
    const { culprit = record.record } = record
    this.#last = { culprit, isWritten }
    if (!isWritten) {
      this.#leaveOut(record, culprit)
      return
    }
    this.#lastWritten = Math.max(this.#lastWritten, culprit)
    if (this.#count === 0) this.#add(this.#text.head)
    this.#add(bytes)
    this.#count += 1
    if (this.#bufferedBytes >= bufferedBytesMax) await this.#flush()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (this.#count > 0 && !this.#isClosed) this.#add(this.#text.tail)
      this.#isClosed = true
      await this.#flush()
    } finally {
      await this.#file?.close()
      this.#file = undefined
    }
  }

  #bytesOf(record: RejectedRecord): Buffer {
    return this.#text.record(record, notesOf(record), this.#count)
  }

  #fits({ length }: Buffer): boolean {
    return this.#count === 0 || (!this.#isFull && this.#bytes + length <= this.#bytesMax)
  }

  /**
   * A product of which some rows stand in the file must not lack the others: dropped again, it would be a smaller one.
   * Its rows come one after the other, but for those that stand in the source far behind the row that rejects them.
   */
  #belongsToWritten({ record, culprit = record, isRest = false }: RejectedRecord): boolean {
    if (this.#last?.culprit === culprit) return this.#last.isWritten
    return isRest && culprit <= this.#lastWritten
  }

  #leaveOut({ line, isRest = false }: RejectedRecord, culprit: number): void {
    this.#isFull = true
    this.#leftOutFromLine ??= line
    if (isRest || this.#lastLeftOut === culprit) return
    this.#lastLeftOut = culprit
    this.#leftOut += 1
  }

  #add(bytes: Buffer): void {
    this.#bytes += bytes.length
    this.#buffered.push(bytes)
    this.#bufferedBytes += bytes.length
  }

  /** The folder may not be there yet: the first import of all may be the one with rejects. */
  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.path), { recursive: true, mode: privateFolderMode })
    return open(this.path, 'w', privateFileMode)
  }

  async #flush(): Promise<void> {
    if (this.#buffered.length === 0) return
    // One by one: a record of many megabytes is not made twice as long in memory.
    const parts = this.#buffered
    this.#buffered = []
    this.#bufferedBytes = 0
    try {
      this.#file ??= await this.#open()
      for (const part of parts) await this.#file.writeFile(part)
    } catch (cause) {
      const code = systemErrorCode(cause) ?? String(cause)
      throw new StorageError(
        'rejects-not-written',
        `cannot write the rejected records to ${this.path} (${code})`,
        {
          hint: 'Make room on the disk and check that the folder can be written',
          cause,
        },
      )
    }
  }
}

/**
 * Writes rejected elements as they stood in their file, within the elements that stood around them, each behind a
 * comment with its line, and what is wrong where and what to do. Always UTF-8 with a byte order mark, which counts before any configured encoding.
 */
class RejectsXml implements RejectsFormat {
  readonly #frame: RecordFrame
  /** Said in the file, for one record alone is hard to tell from what it consists of. */
  readonly #path: string

  constructor(frame: RecordFrame | undefined, path = '') {
    this.#path = path
    this.#frame = frame ?? { version: '1.0', start: [], end: [] }
  }

  get head(): Buffer {
    const { version, start } = this.#frame
    const declaration = `<?xml version="${version}" encoding="UTF-8"?>\n<?${rejectsInstruction} ${this.#path}?>`
    return Buffer.from(`\ufeff${[declaration, ...start].join('\n')}\n`)
  }

  record({ text = '' }: ParsedRecord, { line, notes }: RejectNotes): Buffer {
    const parts = notes.flatMap((note) =>
      (['field', 'value', 'reason', 'remedy'] as const)
        .filter((name) => note[name] !== '')
        .map((name) => `  ${name}: ${commentText(note[name])}\n`),
    )
    return Buffer.from(`<!-- line ${line}\n${parts.join('')}-->\n${text}\n`)
  }

  get tail(): Buffer {
    return Buffer.from(
      [...this.#frame.end]
        .reverse()
        .map((name) => `</${name}>\n`)
        .join(''),
    )
  }
}

/** Comments hold neither two hyphens nor what is no character of XML. */
function commentText(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('--', '- -')
}
