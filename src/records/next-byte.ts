/**
 * Finds the next occurrence of one byte and remembers it, so that text without that byte is searched once and not
 * once a record.
 */
export class NextByte {
  readonly #byte: number
  #text: Buffer = Buffer.alloc(0)
  /** The first occurrence at or after what was asked for last; -1 when unknown, Infinity when there is none. */
  #at = -1

  constructor(byte: number) {
    this.#byte = byte
  }

  /** The text has lost `shift` bytes at its beginning and may have grown at its end. */
  attach(text: Buffer, shift: number): void {
    this.#text = text
    this.#at = this.#at === Number.POSITIVE_INFINITY ? -1 : this.#at - shift
  }

  /** The first position from `position` on, or Infinity. Positions never go back. */
  from(position: number): number {
    if (this.#at < position) {
      // Empty lines: looking is quicker than searching.
      if (this.#text[position] === this.#byte) {
        this.#at = position
        return position
      }
      const found = this.#text.indexOf(this.#byte, position)
      this.#at = found < 0 ? Number.POSITIVE_INFINITY : found
    }
    return this.#at
  }
}
