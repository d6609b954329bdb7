const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Counts lines as XML does: `\n`, `\r\n` and a lone `\r` each end one. */
export class LineCount {
  #line = 1
  #afterReturn = false

  get line(): number {
    return this.#line
  }

  /** Takes the next piece of the text. */
  add(bytes: Buffer): void {
    if (bytes.length === 0) return
    let feed = bytes.indexOf(lineFeed)
    if (feed === 0 && this.#afterReturn) feed = bytes.indexOf(lineFeed, 1)
    for (; feed >= 0; feed = bytes.indexOf(lineFeed, feed + 1)) this.#line += 1
    for (let at = bytes.indexOf(carriageReturn); at >= 0; at = bytes.indexOf(carriageReturn, at + 1)) {
      if (at + 1 === bytes.length || bytes[at + 1] !== lineFeed) this.#line += 1
    }
    this.#afterReturn = bytes[bytes.length - 1] === carriageReturn
  }
}
