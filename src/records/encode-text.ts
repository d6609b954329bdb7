import iconv from 'iconv-lite'
import type { Encoding } from '../config/format-model.ts'

/** Text as bytes of the encoding; characters that it does not have become `?`. */
export function encodeText(text: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8')
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16()
  // By whole characters: the library's tables of single bytes know halves of pairs only, and write two marks for them.
  const known = text.replace(/[\u{10000}-\u{10ffff}]/gu, (character) =>
    hasPairs.test(encoding) ? character : '?',
  )
  return iconv.encode(known, encoding, { addBOM: false })
}

const hasPairs = /^(utf-32|gb18030|big5)/
