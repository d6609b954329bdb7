/**
 * The text that a splitter has not done with yet, in one memory that grows with the longest record and is used again
 * with every chunk: views into it are valid until the next `append`.
 */
export class KeptText {
  #memory = Buffer.allocUnsafeSlow(2 ** 16)
  #bytes = this.#memory.subarray(0, 0)
  #length = 0
  #offset = 0

  /** All of it. */
  get bytes(): Buffer {
    return this.#bytes
  }

  get length(): number {
    return this.#length
  }

  /** Where it begins in the whole text. */
  get offset(): number {
    return this.#offset
  }

  /** Drops what lies before `start` and adds the chunk: every position that the caller remembers loses `start`. */
  append(chunk: Buffer, start: number): void {
    const kept = this.#length - start
    const from = this.#memory
    if (kept + chunk.length > from.length) {
      this.#memory = Buffer.allocUnsafeSlow(Math.max(from.length * 2, kept + chunk.length))
    }
    // A record of megabytes is not copied onto itself with every chunk.
    if (start > 0 || from !== this.#memory) from.copy(this.#memory, 0, start, this.#length)
    chunk.copy(this.#memory, kept)
    this.#length = kept + chunk.length
    this.#bytes = this.#memory.subarray(0, this.#length)
    this.#offset += start
  }
}
