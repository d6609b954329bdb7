/**
 * The text that a splitter has not done with yet, in one memory that grows with the longest record and is used again
 * with every chunk: views into it are valid until the next `append`. What it outgrows, and all of it on disposal, is
 * freed at once: V8 takes its time to find garbage of which it sees only the small part inside of its heap.
 */
export class KeptText implements Disposable {
  #memory = Buffer.allocUnsafeSlow(2 ** 10)
  #bytes = this.#memory.subarray(0, 0)
  #offset = 0

  get bytes(): Buffer {
    return this.#bytes
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Where it begins in the whole text. */
  get offset(): number {
    return this.#offset
  }

  /** Drops what lies before `start` and adds the chunk: every position that the caller remembers loses `start`. */
  append(chunk: Buffer, start: number): void {
    const from = this.#memory
    const end = this.#bytes.length
    const length = end - start + chunk.length
    if (length > from.length) this.#memory = Buffer.allocUnsafeSlow(Math.max(from.length * 2, length))
    // A record of megabytes is not copied onto itself with every chunk.
    if (start > 0 || this.#memory !== from) from.copy(this.#memory, 0, start, end)
    if (this.#memory !== from) free(from)
    chunk.copy(this.#memory, end - start)
    this.#bytes = this.#memory.subarray(0, length)
    this.#offset += start
  }

  [Symbol.dispose](): void {
    free(this.#memory)
    this.#memory = Buffer.alloc(0)
  }
}

function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}
