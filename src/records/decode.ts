import { isAscii } from 'node:buffer'
import type { Encoding } from '../config/model.ts'
import { fileRefusal } from './refusal.ts'
import { decodeWindows1252, undecodable } from './windows-1252.ts'

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

export function createDecoder(encoding: Encoding, name: string): Decoder {
  switch (encoding) {
    case 'utf-8':
      return { write: (chunk) => chunk, end: () => nothing }
    case 'windows-1252':
      return { write: (chunk) => (isAscii(chunk) ? chunk : decodeWindows1252(chunk)), end: () => nothing }
    case 'utf-16le':
    case 'utf-16be':
      return new Utf16Decoder(encoding === 'utf-16be', name)
    default:
      return encoding satisfies never
  }
}

const loneSurrogate = /\p{Surrogate}/u

/** Holds back half a unit or half a surrogate pair at a chunk border. */
class Utf16Decoder implements Decoder {
  readonly #swapped: boolean
  readonly #name: string
  #held: Buffer = nothing

  constructor(swapped: boolean, name: string) {
    this.#swapped = swapped
    this.#name = name
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
    throw fileRefusal({
      name: this.#name,
      code: 'truncated',
      found: 'the UTF-16 text ends in the middle of a character',
      hint: 'The file was cut off: export it again and rename it into place when it is complete',
    })
  }

  #isHighSurrogate(bytes: Buffer, at: number): boolean {
    const unit = this.#swapped ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at)
    return unit >= 0xd800 && unit <= 0xdbff
  }

  #decode(bytes: Buffer): Buffer {
    const text = (this.#swapped ? bytes.swap16() : bytes).toString('utf16le')
    if (text.isWellFormed()) return Buffer.from(text, 'utf8')
    const parts = text
      .split(loneSurrogate)
      .flatMap((part) => [Buffer.of(undecodable), Buffer.from(part, 'utf8')])
    return Buffer.concat(parts.slice(1))
  }
}

const byteOrderMark = Buffer.from('\ufeff', 'utf8')

/** Decodes chunk by chunk; drops a byte order mark at the beginning. */
export async function* decodeChunks(
  chunks: AsyncIterable<Buffer>,
  encoding: Encoding,
  name: string,
): AsyncGenerator<Buffer> {
  const decoder = createDecoder(encoding, name)
  let head: Buffer | undefined = nothing
  for await (const chunk of chunks) {
    let text = decoder.write(chunk)
    if (head !== undefined) {
      head = text = Buffer.concat([head, text])
      if (head.length < byteOrderMark.length) continue
      text = withoutMark(head)
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
