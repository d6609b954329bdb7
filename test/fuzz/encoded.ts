import iconv from 'iconv-lite'
import type { Encoding } from '../../src/config/format-model.ts'
import { encodingNames } from '../../src/lib/encoding.ts'
import type { Random } from './random.ts'

export const encodings = encodingNames as readonly Encoding[]

/** Those that both the web and the library know, but where they read a few characters differently; and all of DOS. */
const ofLibrary: ReadonlySet<Encoding> = new Set([
  'koi8-u',
  'macintosh',
  'ibm437',
  'ibm850',
  'ibm852',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
])

/** How a text becomes a file's bytes. */
export interface Encoded {
  encoding: Encoding
  /** A byte order mark, where the encoding has one. */
  mark: boolean
}

export function generateEncoded(random: Random): Encoded {
  return { encoding: random.pick(encodings), mark: random.chance(0.5) }
}

/** What the encoding lacks becomes a question mark. */
export function encode(text: string, { encoding, mark }: Encoded): Buffer {
  const marked = mark && encoding.startsWith('utf-') ? `\ufeff${text}` : text
  return iconv.encode(marked, encoding, { addBOM: false })
}

/** The whole text at once, without a byte order mark; U+FFFD for what means nothing. */
export function decodeWhole(bytes: Buffer, encoding: Encoding): string {
  const text = decodeAll(bytes, encoding)
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function decodeAll(bytes: Buffer, encoding: Encoding): string {
  if (encoding.startsWith('utf-32')) return decodeUtf32(bytes, encoding)
  const text = ofLibrary.has(encoding)
    ? iconv.decode(bytes, encoding, { stripBOM: false }).toWellFormed()
    : new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes)
  // Of one byte a character: control codes there are characters of another encoding.
  return /^(utf-|shift|euc|gb|big)/.test(encoding) ? text : text.replace(/[\u0080-\u009f]/g, '\ufffd')
}

function decodeUtf32(bytes: Buffer, encoding: Encoding): string {
  let text = ''
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = encoding === 'utf-32le' ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)
    const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    text += isCharacter ? String.fromCodePoint(code) : '\ufffd'
  }
  return text
}
