import { isAscii } from 'node:buffer'
import iconv from 'iconv-lite'
import type { Encoding } from '../config/format-model.ts'
import { type DamagePlaces, SingleByteDecoder, undecodable } from './damage-places.ts'
import { fileRefusal } from './read-file.ts'

/**
 * Turns a file's bytes into UTF-8 text. What cannot be decoded becomes, or stays, bytes that are not valid UTF-8, so
 * that the record that holds them is found and rejected: a replacement character would look like good text.
 */
export interface Decoder {
  write(chunk: Buffer): Buffer
  /** What was held back for the chunk border. */
  end(): Buffer
}

const nothing = Buffer.alloc(0)

/** `places` is told of every piece, but for UTF-8, where bytes stand in the text as they do in the file. */
export function createDecoder(encoding: Encoding, name: string, places?: DamagePlaces): Decoder {
  switch (encoding) {
    case 'utf-8':
      return { write: (chunk) => chunk, end: () => nothing }
    case 'utf-16le':
    case 'utf-16be':
      return new PieceDecoder(utf16(encoding === 'utf-16be'), name, places)
    case 'utf-32le':
    case 'utf-32be':
      return new PieceDecoder(utf32(encoding === 'utf-32be'), name, places)
    case 'shift_jis':
    case 'euc-jp':
    case 'gb18030':
    case 'big5':
    case 'euc-kr':
      return new PieceDecoder(multiByte(encoding), name, places)
    default: {
      const singleByte = new SingleByteDecoder(encoding)
      const decode = (chunk: Buffer) => (isAscii(chunk) ? chunk : singleByte.decode(chunk))
      return { write: (chunk) => told(places, chunk, decode(chunk)), end: () => nothing }
    }
  }
}

function told(places: DamagePlaces | undefined, bytes: Buffer, text: Buffer): Buffer {
  places?.decoded(bytes, text)
  return text
}

const replaced = '\ufffd'

/** How bytes become characters, some of them several bytes each. */
interface Form {
  /** How many bytes from the beginning are whole characters. */
  wholeBytes(bytes: Buffer): number
  /** Halves of surrogate pairs stand for damage. May work in place. */
  textOf(bytes: Buffer): string
  /** A U+FFFD is damage, too: of the text itself none is known. */
  replacedIsDamage: boolean
  /** What a file cannot end in the middle of. Without one, ASCII stands for itself. */
  unit?: { name: string; bytes: number }
}

/** Holds back what is not whole at a chunk border. */
class PieceDecoder implements Decoder {
  readonly #form: Form
  readonly #name: string
  readonly #places: DamagePlaces | undefined
  #held: Buffer = nothing

  constructor(form: Form, name: string, places: DamagePlaces | undefined) {
    this.#form = form
    this.#name = name
    this.#places = places
  }

  write(chunk: Buffer): Buffer {
    const isPlain = this.#form.unit === undefined && this.#held.length === 0 && isAscii(chunk)
    if (isPlain) return told(this.#places, chunk, chunk)
    const bytes = Buffer.concat([this.#held, chunk])
    const length = this.#form.wholeBytes(bytes)
    this.#held = bytes.subarray(length)
    return this.#decode(bytes.subarray(0, length))
  }

  end(): Buffer {
    const { unit } = this.#form
    if (unit === undefined || this.#held.length % unit.bytes === 0) return this.#decode(this.#held)
    throw fileRefusal({
      name: this.#name,
      code: 'truncated',
      found: `the ${unit.name} text ends in the middle of a character`,
      hint: 'The file was cut off: export it again and rename it into place when it is complete',
    })
  }

  #decode(bytes: Buffer): Buffer {
    return told(this.#places, bytes, withUndecodable(this.#form.textOf(bytes), this.#form))
  }
}

/** A piece that is longer is decoded wherever it ends. */
const heldBytesMax = 4 * 2 ** 20

/**
 * Decodes up to the last byte that is never part of a longer character; the library's own decoder of streams loses
 * characters after a damaged one at a chunk border.
 */
function multiByte(encoding: Encoding): Form {
  return {
    wholeBytes: (bytes) => {
      let length = bytes.length
      while (length > 0 && (bytes[length - 1] as number) >= 0x30) length -= 1
      return bytes.length - length > heldBytesMax ? bytes.length : length
    },
    // The library makes halves of surrogate pairs of some damage.
    textOf: (bytes) => iconv.decode(bytes, encoding, { stripBOM: false }),
    replacedIsDamage: true,
  }
}

function utf32(isBigEndian: boolean): Form {
  return {
    wholeBytes: ({ length }) => length - (length % 4),
    textOf: (bytes) => {
      const codes: number[] = []
      for (let at = 0; at < bytes.length; at += 4) {
        const code = isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
        // A half of a pair is no character here, and two of them are none either.
        codes.push(code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0xdfff : code)
      }
      let text = ''
      for (let at = 0; at < codes.length; at += 4096)
        text += String.fromCodePoint(...codes.slice(at, at + 4096))
      return text
    },
    replacedIsDamage: false,
    unit: { name: 'UTF-32', bytes: 4 },
  }
}

/** Half a surrogate pair is held back, too. */
function utf16(isSwapped: boolean): Form {
  return {
    wholeBytes: (bytes) => {
      const length = bytes.length - (bytes.length % 2)
      const last =
        length < 2 ? 0 : isSwapped ? bytes.readUInt16BE(length - 2) : bytes.readUInt16LE(length - 2)
      return last >= 0xd800 && last <= 0xdbff ? length - 2 : length
    },
    textOf: (bytes) => (isSwapped ? bytes.swap16() : bytes).toString('utf16le'),
    replacedIsDamage: false,
    unit: { name: 'UTF-16', bytes: 2 },
  }
}

/**
 * Text as UTF-8 with an undecodable byte for each half of a surrogate pair that stands alone, and for each U+FFFD where
 * that means damage. Every character of a text may be one.
 */
function withUndecodable(text: string, { replacedIsDamage }: Form): Buffer {
  const isSound = text.isWellFormed() && !(replacedIsDamage && text.includes(replaced))
  if (isSound) return Buffer.from(text, 'utf8')
  // A unit of a string takes three bytes at most.
  const bytes = Buffer.allocUnsafeSlow(3 * text.length)
  let length = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) as number
    if (code > 0xffff) at += 1
    const isDamage = (code & 0xfffff800) === 0xd800 || (replacedIsDamage && code === 0xfffd)
    if (!isDamage) continue
    if (at > from) length += bytes.write(text.slice(from, at), length, 'utf8')
    bytes[length++] = undecodable
    from = at + 1
  }
  return bytes.subarray(0, length + bytes.write(text.slice(from), length, 'utf8'))
}

const byteOrderMark = Buffer.from('\ufeff', 'utf8')

export interface Decoding {
  encoding: Encoding
  /** What messages call the text. */
  name: string
  places?: DamagePlaces
}

/** Decodes chunk by chunk; drops a byte order mark at the beginning. */
export async function* decodeChunks(
  chunks: AsyncIterable<Buffer>,
  { encoding, name, places }: Decoding,
): AsyncGenerator<Buffer> {
  const decoder = createDecoder(encoding, name, places)
  places?.begin(encoding)
  let head: Buffer | undefined = nothing
  for await (const chunk of chunks) {
    let text = decoder.write(chunk)
    if (head !== undefined) {
      head = text = Buffer.concat([head, text])
      if (head.length < byteOrderMark.length) continue
      text = withoutMark(head)
      places?.markLeftOut(head.length - text.length)
      head = undefined
    }
    if (text.length > 0) yield text
  }
  const rest = decoder.end()
  const last = head === undefined ? rest : withoutMark(Buffer.concat([head, rest]))
  if (last.length > 0) yield last
}

export function withoutMark(text: Buffer): Buffer {
  return text.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    ? text.subarray(byteOrderMark.length)
    : text
}
