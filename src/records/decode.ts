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
      return new Utf16Decoder(encoding === 'utf-16be', name, places)
    case 'utf-32le':
    case 'utf-32be':
      return new Utf32Decoder(encoding === 'utf-32be', name, places)
    case 'shift_jis':
    case 'euc-jp':
    case 'gb18030':
    case 'big5':
    case 'euc-kr':
      return new MultiByteDecoder(encoding, places)
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

/** A piece that is longer is decoded wherever it ends. */
const heldBytesMax = 4 * 2 ** 20

/**
 * Decodes up to the last byte that is never part of a longer character; the library's own decoder of streams loses
 * characters after a damaged one at a chunk border. A U+FFFD of the text itself is taken for damage, too.
 */
class MultiByteDecoder implements Decoder {
  readonly #encoding: Encoding
  readonly #places: DamagePlaces | undefined
  #held: Buffer = nothing

  constructor(encoding: Encoding, places: DamagePlaces | undefined) {
    this.#encoding = encoding
    this.#places = places
  }

  write(chunk: Buffer): Buffer {
    if (this.#held.length === 0 && isAscii(chunk)) return told(this.#places, chunk, chunk)
    const bytes = Buffer.concat([this.#held, chunk])
    let length = bytes.length
    while (length > 0 && (bytes[length - 1] as number) >= 0x30) length -= 1
    if (bytes.length - length > heldBytesMax) length = bytes.length
    this.#held = bytes.subarray(length)
    return this.#decode(bytes.subarray(0, length))
  }

  end(): Buffer {
    return this.#decode(this.#held)
  }

  #decode(bytes: Buffer): Buffer {
    // The library makes halves of surrogate pairs of some damage.
    const decoded = iconv.decode(bytes, this.#encoding, { stripBOM: false })
    const text = withUndecodable(decoded, { replacedIsDamage: true })
    return told(this.#places, bytes, text)
  }
}

/**
 * Text as UTF-8 with an undecodable byte for each half of a surrogate pair that stands alone, and for each U+FFFD where
 * that means damage. Every character of a text may be one.
 */
function withUndecodable(text: string, { replacedIsDamage }: { replacedIsDamage: boolean }): Buffer {
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

/** Holds back what is less than a unit of four bytes. */
class Utf32Decoder implements Decoder {
  readonly #isBigEndian: boolean
  readonly #name: string
  readonly #places: DamagePlaces | undefined
  #held: Buffer = nothing

  constructor(isBigEndian: boolean, name: string, places: DamagePlaces | undefined) {
    this.#isBigEndian = isBigEndian
    this.#name = name
    this.#places = places
  }

  write(chunk: Buffer): Buffer {
    const bytes = Buffer.concat([this.#held, chunk])
    const length = bytes.length - (bytes.length % 4)
    this.#held = bytes.subarray(length)
    const codes: number[] = []
    for (let at = 0; at < length; at += 4) {
      const code = this.#isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
      // A half of a pair is no character here, and two of them are none either.
      codes.push(code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0xdfff : code)
    }
    let text = ''
    for (let at = 0; at < codes.length; at += 4096)
      text += String.fromCodePoint(...codes.slice(at, at + 4096))
    return told(this.#places, bytes.subarray(0, length), withUndecodable(text, { replacedIsDamage: false }))
  }

  end(): Buffer {
    if (this.#held.length > 0) throw endsInside('UTF-32', this.#name)
    return nothing
  }
}

/** Holds back half a unit or half a surrogate pair at a chunk border. */
class Utf16Decoder implements Decoder {
  readonly #swapped: boolean
  readonly #name: string
  readonly #places: DamagePlaces | undefined
  #held: Buffer = nothing

  constructor(swapped: boolean, name: string, places: DamagePlaces | undefined) {
    this.#swapped = swapped
    this.#name = name
    this.#places = places
  }

  write(chunk: Buffer): Buffer {
    const bytes = Buffer.concat([this.#held, chunk])
    let length = bytes.length - (bytes.length % 2)
    if (length >= 2 && this.#isHighSurrogate(bytes, length - 2)) length -= 2
    this.#held = bytes.subarray(length)
    return this.#decode(bytes.subarray(0, length))
  }

  end(): Buffer {
    if (this.#held.length % 2 === 0) return this.#decode(this.#held)
    throw endsInside('UTF-16', this.#name)
  }

  #isHighSurrogate(bytes: Buffer, at: number): boolean {
    const unit = this.#swapped ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at)
    return unit >= 0xd800 && unit <= 0xdbff
  }

  #decode(bytes: Buffer): Buffer {
    const text = (this.#swapped ? bytes.swap16() : bytes).toString('utf16le')
    return told(this.#places, bytes, withUndecodable(text, { replacedIsDamage: false }))
  }
}

function endsInside(encoding: string, name: string): Error {
  return fileRefusal({
    name,
    code: 'truncated',
    found: `the ${encoding} text ends in the middle of a character`,
    hint: 'The file was cut off: export it again and rename it into place when it is complete',
  })
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
