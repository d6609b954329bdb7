const openings = /&|<!--|<!\[CDATA\[|<\?/g
const reference = /^&[^\s<>&;"'=/?%+]{1,1000};/
/** What a text may end with that further text completes to an opening or a reference. */
const unfinished = /(?:&[^\s<>&;"'=/?%+]{0,1000}|<(?:!(?:-|\[(?:C(?:D(?:A(?:T(?:A)?)?)?)?)?)?)?)$/

const closings: Readonly<Record<string, string>> = { '<!--': '-->', '<![CDATA[': ']]>', '<?': '?>' }

/**
 * Finds an `&` that begins no reference, the most frequent error of hand-made XML: parsers go on to the next semicolon
 * and name the wrong place. Outside of comments, CDATA and instructions, where it is a character like any other.
 */
export class StrayAmpersand {
  #held = ''
  /** What ends the comment, CDATA or instruction that the text is in. */
  #closing: string | undefined

  /** The text to parse next; `isStray`: behind it stands such an `&`. */
  take(piece: string): { text: string; isStray: boolean } {
    const text = this.#held + piece
    this.#held = ''
    for (let at = 0; ; ) {
      if (this.#closing !== undefined) {
        const end = text.indexOf(this.#closing, at)
        if (end < 0) return this.#hold(text, Math.max(at, text.length - this.#closing.length + 1))
        at = end + this.#closing.length
        this.#closing = undefined
      }
      openings.lastIndex = at
      const opening = openings.exec(text)
      const found = opening?.index ?? text.length
      const tail = unfinished.exec(text.slice(Math.max(at, text.length - 1002)))
      const held = tail === null ? text.length : text.length - tail[0].length
      if (held <= found) return this.#hold(text, held)
      if (opening?.[0] === '&') {
        const length = reference.exec(text.slice(found, found + 1003))?.[0].length
        if (length === undefined) return { text: text.slice(0, found), isStray: true }
        at = found + length
      } else {
        this.#closing = closings[opening?.[0] ?? '']
        at = found + (opening?.[0].length ?? 0)
      }
    }
  }

  /** What was held back for a further piece. */
  end(): { text: string; isStray: boolean } {
    const isStray = this.#closing === undefined && this.#held.startsWith('&')
    return { text: isStray ? '' : this.#held, isStray }
  }

  #hold(text: string, from: number): { text: string; isStray: boolean } {
    this.#held = text.slice(from)
    return { text: text.slice(0, from), isStray: false }
  }
}
