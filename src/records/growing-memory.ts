/**
 * Memory for the text of records, which grows with the longest of them. What it outgrows, and all of it on disposal, is
 * freed at once: V8 takes its time to find garbage of which it sees only the small part inside of its heap.
 */
export class GrowingMemory implements Disposable {
  #bytes = Buffer.allocUnsafeSlow(2 ** 16)

  get bytes(): Buffer {
    return this.#bytes
  }

  /** Moves what lies between the places to the beginning, with room for `more` behind it. Views into it are void then. */
  keep({ start, end, more }: { start: number; end: number; more: number }): void {
    const from = this.#bytes
    const needed = end - start + more
    if (needed <= from.length) {
      // A record of megabytes is not copied onto itself with every chunk.
      if (start > 0) from.copy(from, 0, start, end)
      return
    }
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(from.length * 2, needed))
    from.copy(this.#bytes, 0, start, end)
    free(from)
  }

  [Symbol.dispose](): void {
    free(this.#bytes)
    this.#bytes = Buffer.alloc(0)
  }
}

function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}
