import { type EncodingGuess, guessEncoding } from './guess-encoding.ts'
import { Utf8Tally } from './utf8-tally.ts'

/** So much text decides, however long the file is: judging it takes some 50 ms, in one go. */
const phraseBytesMax = 8 * 2 ** 10
const phraseBytes = 2000
/** So many valid sequences are no accident, though as many bytes are damaged. */
const multiByteMin = 20
const lineFeed = 0x0a

/** Tells of bytes without a mark whether they are UTF-8. */
export class EncodingEvidence {
  readonly #tally = new Utf8Tally()

  add(chunk: Buffer): void {
    this.#tally.add(chunk)
  }

  end(): void {
    this.#tally.end()
  }

  /** Valid throughout, and not for want of characters beyond ASCII. */
  get isUtf8(): boolean {
    return this.#tally.invalid === 0 && this.#tally.multiByte > 0
  }

  /** UTF-8, with some damage perhaps: phrases would say no more. */
  get isMostlyUtf8(): boolean {
    const { encoding, invalid, multiByte } = this.#tally
    const isMostly = invalid * 3 <= multiByte || (invalid <= multiByte && multiByte >= multiByteMin)
    return encoding === 'utf-8' && isMostly
  }

  /** UTF-8, with some damage perhaps, else the best guess from the phrases of the same bytes. */
  guess(phrases: EncodingPhrases): EncodingGuess {
    if (this.isMostlyUtf8) return { encoding: 'utf-8', isLatin: false }
    const guess = guessEncoding(phrases.all)
    // Characters of two bytes are valid UTF-8 by accident now and then. Single bytes hardly ever are: a file with both
    // is UTF-8 that was damaged, and its damaged records are rejected.
    const isDamaged = this.#tally.encoding === 'utf-8' && guess.isLatin
    return isDamaged ? { encoding: 'utf-8', isLatin: false } : guess
  }
}

/** Gathers phrases beyond ASCII, which tell the encoding of bytes that are not UTF-8: in most files nobody needs them. */
export class EncodingPhrases {
  readonly #phrases = new Map<string, Buffer>()
  #gathered = 0
  /** The beginning of a line whose end the next chunk brings. */
  #held: Buffer = Buffer.alloc(0)

  get all(): readonly Buffer[] {
    return [...this.#phrases.values()]
  }

  /** Further chunks change nothing. */
  get isEnough(): boolean {
    return this.#gathered >= phraseBytesMax
  }

  add(chunk: Buffer): void {
    if (this.isEnough) return
    const lastLine = chunk.lastIndexOf(lineFeed) + 1
    if (lastLine > 0) {
      this.#gather(Buffer.concat([this.#held, chunk.subarray(0, lastLine)]))
      this.#held = Buffer.alloc(0)
    }
    // Copied: the chunk's memory is used again. Of endless lines only the beginning is looked at.
    const room = phraseBytes - this.#held.length
    this.#held = Buffer.concat([this.#held, chunk.subarray(lastLine, lastLine + Math.max(0, room))])
  }

  end(): void {
    this.#gather(this.#held)
  }

  /** Each phrase once: a word that stands in every line proves no more than one. */
  #gather(text: Buffer): void {
    const beyondAscii = /[\u0080-\u00ff]/g
    const oneEachByte = text.toString('latin1')
    while (!this.isEnough && beyondAscii.test(oneEachByte)) {
      let end = beyondAscii.lastIndex
      let start = end - 1
      while (start > 0 && !isBorder(text[start - 1] as number)) start -= 1
      while (end < text.length && !isBorder(text[end] as number)) end += 1
      this.#keep(text.subarray(start, Math.min(end, start + phraseBytes)))
      beyondAscii.lastIndex = end
    }
  }

  #keep(phrase: Buffer): void {
    const key = phrase.toString('latin1')
    if (this.#phrases.has(key)) return
    this.#phrases.set(key, Buffer.from(phrase))
    this.#gathered += phrase.length
  }
}

/** None of these is ever part of a character of two bytes. */
function isBorder(byte: number): boolean {
  return byte < 0x20 || byte === 0x22 || byte === 0x2c || byte === 0x3b
}
