import { GrowingMemory } from './growing-memory.ts'

/**
 * The text that a splitter has not done with yet, in one memory that grows with the longest record and is used again
 * with every chunk: views into it are valid until the next `append`.
 */
export class KeptText implements Disposable {
  readonly #memory = new GrowingMemory()
  #bytes = this.#memory.bytes.subarray(0, 0)
  #length = 0
  #offset = 0

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
    this.#memory.keep({ start, end: this.#length, more: chunk.length })
    chunk.copy(this.#memory.bytes, kept)
    this.#length = kept + chunk.length
    this.#bytes = this.#memory.bytes.subarray(0, this.#length)
    this.#offset += start
  }

  [Symbol.dispose](): void {
    this.#memory[Symbol.dispose]()
  }
}
