import { UnnamedFile } from './unnamed-file.ts'

const pageBytes = 2 ** 16
const pagesMax = 64

/** Holds bytes that do not fit into memory. Made with the first of them. */
export class SpillFile implements AsyncDisposable {
  readonly #dir: string
  #file: UnnamedFile | undefined
  #size = 0
  /** Read lately, the oldest first: what is written together is often read together. */
  readonly #pages = new Map<number, Buffer>()

  constructor(dir: string) {
    this.#dir = dir
  }

  get size(): number {
    return this.#size
  }

  /** Await each call before the next. Throws a StorageError when the disk does not take it. */
  async append(bytes: Buffer): Promise<void> {
    this.#file ??= await UnnamedFile.open({ dir: this.#dir, what: 'rows that wait' })
    await this.#file.append(bytes)
    this.#size += bytes.length
  }

  /** Shorter where the file ends before. */
  async read(offset: number, length: number): Promise<Buffer> {
    const end = Math.min(offset + length, this.#size)
    const [first, last] = [Math.floor(offset / pageBytes), Math.floor((end - 1) / pageBytes)]
    if (last > first + 1) return this.#readAt(offset, end)
    const parts: Buffer[] = []
    for (let page = first; page <= last; page++) {
      const start = page * pageBytes
      const bytes = this.#pages.get(page) ?? (await this.#readPage(page))
      parts.push(bytes.subarray(Math.max(0, offset - start), end - start))
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.[Symbol.asyncDispose]()
    this.#file = undefined
  }

  async #readPage(page: number): Promise<Buffer> {
    const end = (page + 1) * pageBytes
    const bytes = await this.#readAt(page * pageBytes, Math.min(end, this.#size))
    // One that grows yet would be old soon.
    if (end > this.#size) return bytes
    const [oldest] = this.#pages.keys()
    if (this.#pages.size >= pagesMax && oldest !== undefined) this.#pages.delete(oldest)
    this.#pages.set(page, bytes)
    return bytes
  }

  async #readAt(offset: number, end: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(end - offset)
    for (let done = 0; done < bytes.length; ) {
      const read = await this.#file?.read(bytes, done, offset + done)
      if (!read) throw new Error(`the file of rows ends after ${offset + done} of ${this.#size} bytes`)
      done += read
    }
    return bytes
  }
}
