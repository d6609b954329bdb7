import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import type { Dialect, RecordFrame, RejectedRecord } from './model.ts'
import { notesOf } from './reject-notes.ts'
import { type RejectsFormat, RejectsText } from './rejects-text.ts'
import { RejectsXml } from './rejects-xml.ts'

/** Gathered before they go to the disk. */
const bufferedBytesMax = 64 * 2 ** 10

/** Writes a file of rejected records that can be corrected and dropped again. Nothing rejected: no file. */
export interface RejectsWriter extends AsyncDisposable {
  readonly count: number
  /** Await each call before the next. */
  write(record: RejectedRecord): Promise<void>
}

export function openRejectsWriter(options: {
  path: string
  dialect: Dialect
  columns: readonly string[]
  /** Of an XML file. */
  frame?: RecordFrame | undefined
}): RejectsWriter {
  const { path, dialect, columns, frame } = options
  const format = dialect.type === 'xml' ? new RejectsXml(frame) : new RejectsText(dialect, columns)
  return new RejectsFile(path, format)
}

/** Not begun (no file), then writing (file open, a buffer before it), then closed. A file from an earlier try is replaced. */
class RejectsFile implements RejectsWriter {
  readonly #path: string
  readonly #text: RejectsFormat
  #count = 0
  #buffered: Buffer[] = []
  #bufferedBytes = 0
  #file: FileHandle | undefined
  #isClosed = false

  constructor(path: string, text: RejectsFormat) {
    this.#path = path
    this.#text = text
  }

  get count(): number {
    return this.#count
  }

  async write(record: RejectedRecord): Promise<void> {
    if (this.#count === 0) this.#add(this.#text.head)
    this.#add(this.#text.record(record, notesOf(record), this.#count))
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

  #add(bytes: Buffer): void {
    this.#buffered.push(bytes)
    this.#bufferedBytes += bytes.length
  }

  /** The folder may not be there yet: the first import of all may be the one with rejects. */
  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.#path), { recursive: true })
    return open(this.#path, 'w')
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
        `cannot write the rejected records to ${this.#path} (${code})`,
        {
          hint: 'Make room on the disk and check that the folder can be written',
          cause,
        },
      )
    }
  }
}
