import type { FileHandle } from 'node:fs/promises'
import type { Clock } from '../lib/clock.ts'
import { StorageError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { compactJournal } from './compact.ts'
import type { JournalEntry } from './journal-entry.ts'
import { type JournalPart, openJournalFile, readPart } from './journal-file.ts'

const tryAgainMs = 1_000
/** So much may be added to a journal, beside its own length again, before the next start compacts it. */
const grownBytesMin = 16 * 1024 * 1024

export interface JournalOptions {
  path: string
  /** Of the key that made the ids, and of the manifest that the positions belong to. */
  identity: string
  clock: Clock
  log: Log
  /** Default: 16 MB. */
  compactAfterBytes?: number
}

interface Waiting {
  line: string
  resolve: (offset: number) => void
  reject: (error: Error) => void
}

/**
 * The acknowledgements of consents on disk: what is sent is decided by it alone, whatever Redis forgets.
 *
 * open → (write fails) failing → (works again) open → closed. Lines that come together share one write and one sync. A
 * write that fails is repeated at its place until it succeeds; nobody is told of a line before it is durable.
 */
export class ConsentJournal implements AsyncDisposable {
  readonly #options: JournalOptions
  readonly #file: FileHandle
  /** Names the file's content: `identity:generation`. */
  readonly prefix: string
  #bytes: number
  #waiting: Waiting[] = []
  #flushing: Promise<void> | undefined
  #failing = false
  readonly #closing = new AbortController()

  private constructor(options: JournalOptions, opened: Awaited<ReturnType<typeof openJournalFile>>) {
    this.#options = options
    this.#file = opened.file
    this.#bytes = opened.bytes
    this.prefix = `${opened.header.identity}:${opened.header.generation}`
  }

  /** One process at a time: the holder of the state lock. */
  static async open(options: JournalOptions): Promise<ConsentJournal> {
    const { path, identity, log, compactAfterBytes = grownBytesMin } = options
    const opened = await openJournalFile(path, identity)
    const { bytes, header } = opened
    if (bytes < 2 * header.compactedBytes + compactAfterBytes) return new ConsentJournal(options, opened)
    await opened.file.close()
    const bytesAfter = await compactJournal({ path, identity })
    log.info({ bytesBefore: bytes, bytesAfter }, 'the journal of consents was compacted')
    return new ConsentJournal(options, await openJournalFile(path, identity))
  }

  /** Length of what is durable. */
  get bytes(): number {
    return this.#bytes
  }

  /** The disk refuses to take lines: nothing should be sent, since nothing could be remembered. */
  get failing(): boolean {
    return this.#failing
  }

  /** Resolves when the entry is durable, with the offset behind it. */
  append(entry: JournalEntry): Promise<number> {
    if (this.#closing.signal.aborted) return Promise.reject(closed())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line: `${JSON.stringify(entry)}\n`, resolve, reject })
      this.#flushing ??= this.#flush()
    })
  }

  /** What is durable, from an offset on, in parts. */
  read(from: number): Promise<JournalPart> {
    return readPart(this.#file, this.#options.path, { from, end: this.#bytes })
  }

  /** Writes what waits; a disk that is failing is not waited for. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await this.#flushing
    await this.#file.close()
  }

  async #flush(): Promise<void> {
    // Those who come in the same turn share the sync.
    await Promise.resolve()
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting
        this.#waiting = []
        await this.#commit(batch)
      }
    } finally {
      // In the same turn as the last look at the queue: who comes later begins anew.
      this.#flushing = undefined
    }
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    let offset = this.#bytes
    try {
      await this.#write(Buffer.from(batch.map(({ line }) => line).join('')))
    } catch {
      for (const { reject } of batch) reject(closed())
      return
    }
    for (const { line, resolve } of batch) {
      offset += Buffer.byteLength(line)
      resolve(offset)
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    const { clock, log, path } = this.#options
    for (;;) {
      try {
        await this.#writeAt(bytes, this.#bytes)
        await this.#file.datasync()
        this.#bytes += bytes.length
        if (this.#failing) log.info({ path }, 'the journal of consents can be written again')
        this.#failing = false
        return
      } catch (error) {
        if (!this.#failing) log.error({ err: error, path }, 'consents wait: their journal cannot be written')
        this.#failing = true
      }
      await clock.sleep(tryAgainMs, this.#closing.signal)
    }
  }

  async #writeAt(bytes: Buffer, position: number): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(
        bytes,
        written,
        bytes.length - written,
        position + written,
      )
      written += bytesWritten
    }
  }
}

function closed(): StorageError {
  return new StorageError('consent-journal', 'the journal of consents was closed before a line was durable')
}
