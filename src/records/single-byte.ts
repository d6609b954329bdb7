import iconv from 'iconv-lite'
import type { Encoding } from '../config/format-model.ts'

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
