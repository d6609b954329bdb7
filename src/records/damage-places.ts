import iconv from 'iconv-lite'
import type { Encoding } from '../config/format-model.ts'

/** Of damage that no record has asked for yet. What comes beyond is told without its place. */
const placesMax = 2 ** 16

/**
 * Where in the file the bytes stand that could not be decoded: the text that records are cut from has other lengths.
 * Told of each piece as it is decoded, asked by the records in their order. Costs a search for one byte, unless there
 * is damage.
 */
export class DamagePlaces {
  #encoding: Encoding = 'utf-8'
  /** What the place is counted in. */
  readonly whole: string
  #fileBytes = 0
  #textBytes = 0
  #markBytes = 0
  /** By where it stands in the text, the byte order mark counted. */
  readonly #places = new Map<number, number>()

  constructor(whole: string) {
    this.whole = whole
  }

  begin(encoding: Encoding): void {
    this.#encoding = encoding
  }

  /** A piece of the file and the text that was made of it. */
  decoded(bytes: Buffer, text: Buffer): void {
    if (text.includes(undecodable)) this.#locate(bytes, text)
    this.#fileBytes += bytes.length
    this.#textBytes += text.length
  }

  /** The text goes on without the mark that it began with. */
  markLeftOut(bytes: number): void {
    this.#markBytes = bytes
  }

  /** In bytes of the file; `at` is in those of the text. Forgets what stands before. */
  fileOffset(at: number): number | undefined {
    const place = at + this.#markBytes
    if (this.#encoding === 'utf-8') return place
    const found = this.#places.get(place)
    for (const key of this.#places.keys()) {
      if (key > place) break
      this.#places.delete(key)
    }
    return found
  }

  #locate(bytes: Buffer, text: Buffer): void {
    const width = widthIn(this.#encoding)
    if (width === 'several') {
      this.#locateInPieces(bytes, text)
      return
    }
    for (let at = 0, file = 0; at < text.length && this.#places.size < placesMax; ) {
      if (text[at] === undecodable) this.#add(at, file)
      const length = widthOf(text[at] as number)
      file += width === 'utf-16' ? (length === 4 ? 4 : 2) : width
      at += length
    }
  }

  /**
   * How long damage is, only the library knows: each word is read from its own beginning, up to its first damage. No
   * record begins behind it in the same word.
   */
  #locateInPieces(bytes: Buffer, text: Buffer): void {
    for (let at = 0, file = 0; at < text.length && this.#places.size < placesMax; ) {
      const end = endOfWord(text, at)
      const fileEnd = endOfWord(bytes, file)
      const from = text.subarray(at, end).indexOf(undecodable)
      if (from >= 0) {
        const sound = text.toString('utf8', at, at + from)
        this.#add(at + from, file + iconv.encode(sound, this.#encoding, { addBOM: false }).length)
      }
      at = end
      file = fileEnd
    }
  }

  #add(at: number, file: number): void {
    this.#places.set(this.#textBytes + at, this.#fileBytes + file)
  }
}

/** Bytes that a character has in the file, whatever it is; UTF-16 has two widths. */
function widthIn(encoding: Encoding): number | 'utf-16' | 'several' {
  if (encoding.startsWith('utf-16')) return 'utf-16'
  if (encoding.startsWith('utf-32')) return 4
  return /^(shift_jis|euc-jp|gb18030|big5|euc-kr)$/.test(encoding) ? 'several' : 1
}

/** Of a character in UTF-8. */
function widthOf(lead: number): number {
  if (lead < 0xc0 || lead === undecodable) return 1
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
}

/** Behind the next byte that is never part of a longer character, in any of the encodings and in UTF-8. */
function endOfWord(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && (bytes[at] as number) >= 0x30) at += 1
  return Math.min(at + 1, bytes.length)
}

/** Stands in the UTF-8 text for bytes that mean nothing in the file's encoding; never valid UTF-8 itself. */
export const undecodable = 0xff

/** Control codes beyond ASCII: what means one of them in theory is a character of another encoding in practice. */
const meaningless = /[\ufffd\u0080-\u009f]/

/** Decodes an encoding of one byte a character; bytes without a meaning become `undecodable`. */
export class SingleByteDecoder {
  /** Per byte: how many bytes of UTF-8 it becomes, then up to three of them. */
  readonly #table = new Uint8Array(256 * 4)

  constructor(encoding: Encoding) {
    for (let byte = 0; byte < 256; byte++) {
      const character = iconv.decode(Buffer.of(byte), encoding)
      const utf8 = meaningless.test(character) ? Buffer.of(undecodable) : Buffer.from(character, 'utf8')
      this.#table.set([utf8.length, ...utf8], byte * 4)
    }
  }

  decode(bytes: Buffer): Buffer {
    const table = this.#table
    const text = Buffer.allocUnsafe(bytes.length * 3)
    let length = 0
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number
      if (byte < 0x80) {
        text[length++] = byte
        continue
      }
      const entry = byte * 4
      const count = table[entry] as number
      for (let part = 1; part <= count; part++) text[length++] = table[entry + part] as number
    }
    return text.subarray(0, length)
  }
}
