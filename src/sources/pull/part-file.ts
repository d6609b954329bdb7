import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { privateFileMode } from '../../lib/private-modes.ts'
import { PullError } from './pull-error.ts'

interface Opening {
  path: string
  /** More is refused. */
  bytesMax: number
  /** Throws when so many more bytes do not fit on the disk. */
  requireSpace: (bytes: number) => Promise<void>
}

/** Free space is looked at this often. */
const spaceEveryBytes = 64 * 1024 * 1024
const headBytes = 512

/** A file while it is fetched: grows at its end, and can begin again. */
export class PartFile implements AsyncDisposable {
  readonly path: string
  readonly #file: FileHandle
  readonly #options: Opening
  #hash: Hash = createHash('sha256')
  #bytes = 0
  #nextSpaceAt = 0
  #head: Buffer = Buffer.alloc(0)

  private constructor(file: FileHandle, options: Opening) {
    this.#file = file
    this.#options = options
    this.path = options.path
  }

  static async open(options: Opening): Promise<PartFile> {
    return new PartFile(await open(options.path, 'ax', privateFileMode), options)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The first bytes, at most 512. */
  get head(): Buffer {
    return this.#head
  }

  /** Throws when a file of so many bytes is not wanted or has no room. */
  async expect(bytes: number): Promise<void> {
    this.#checkSize(bytes)
    await this.#options.requireSpace(bytes - this.#bytes)
  }

  async append(source: Readable, signal: AbortSignal): Promise<void> {
    for await (const piece of source) {
      const bytes = piece as Buffer
      signal.throwIfAborted()
      this.#checkSize(this.#bytes + bytes.length)
      if (this.#bytes >= this.#nextSpaceAt) {
        await this.#options.requireSpace(spaceEveryBytes)
        this.#nextSpaceAt = this.#bytes + spaceEveryBytes
      }
      await this.#file.writeFile(bytes)
      this.#hash.update(bytes)
      if (this.#head.length < headBytes)
        this.#head = Buffer.concat([this.#head, bytes]).subarray(0, headBytes)
      this.#bytes += bytes.length
    }
  }

  async beginAgain(): Promise<void> {
    if (this.#bytes === 0) return
    await this.#file.truncate(0)
    this.#hash = createHash('sha256')
    this.#head = Buffer.alloc(0)
    this.#bytes = 0
    this.#nextSpaceAt = 0
  }

  /** Makes the content durable. Hex. */
  async finish(): Promise<{ bytes: number; sha256: string }> {
    await this.#file.sync()
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
  }

  #checkSize(bytes: number): void {
    const { bytesMax } = this.#options
    if (bytes <= bytesMax) return
    throw new PullError('too-large', `the file has more than ${bytesMax} bytes`, {
      hint: 'If it is what it should be, raise maxBytes',
    })
  }
}
