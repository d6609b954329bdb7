import type { Encoding } from '../config/format-model.ts'
import { encodingOf } from '../lib/encoding.ts'
import { EncodingEvidence, EncodingPhrases } from './encoding-evidence.ts'
import type { EncodingGuess } from './guess-encoding.ts'
import type { Dialect } from './model.ts'

/** The beginning of a text, decompressed but not decoded. */
export interface Sample {
  bytes: Buffer
  /** The sample is the whole text. */
  complete: boolean
}

export interface DetectedEncoding {
  encoding: Encoding
  basis: Dialect['basis']['encoding']
  /** Something that was said about the encoding contradicts the file, or the guess is uncertain. */
  warning?: string
}

const marks: readonly { encoding: Encoding; bytes: Buffer }[] = [
  { encoding: 'utf-8', bytes: Buffer.of(0xef, 0xbb, 0xbf) },
  // Before UTF-16, whose mark it begins with.
  { encoding: 'utf-32le', bytes: Buffer.of(0xff, 0xfe, 0, 0) },
  { encoding: 'utf-32be', bytes: Buffer.of(0, 0, 0xfe, 0xff) },
  { encoding: 'gb18030', bytes: Buffer.of(0x84, 0x31, 0x95, 0x33) },
  { encoding: 'utf-16le', bytes: Buffer.of(0xff, 0xfe) },
  { encoding: 'utf-16be', bytes: Buffer.of(0xfe, 0xff) },
]

/**
 * A byte order mark, else the configuration, else the XML declaration, else a guess from the beginning of the
 * (decompressed) file. The guess is provisional: only the whole file decides.
 */
export function detectEncoding(sample: Sample, configured: Encoding | undefined): DetectedEncoding {
  const head = sample.bytes
  const marked = markedEncoding(head)
  if (marked) {
    const contradicted = configured !== undefined && configured !== marked
    return {
      encoding: marked,
      basis: 'bom',
      ...(contradicted && {
        warning: `format.encoding says ${configured}, but the file's byte order mark says ${marked}: read as ${marked}`,
      }),
    }
  }
  if (configured) return { encoding: configured, basis: 'configured' }
  const wide = detectUtf32(head) ?? detectUtf16(head)
  if (wide) return { encoding: wide, basis: 'detected' }
  const declared = declaredEncoding(head)
  return declared ? { encoding: declared, basis: 'declared' } : { ...guess(sample), basis: 'detected' }
}

/**
 * What the whole file says about it: a guess is made again, and what was declared gives way when the file is UTF-8
 * throughout, which never happens by accident.
 */
export async function settleEncoding(
  detected: DetectedEncoding,
  evidence: EncodingEvidence,
  readPhrases: () => Promise<EncodingPhrases>,
): Promise<DetectedEncoding> {
  const { encoding, basis } = detected
  if (basis === 'detected') {
    const phrases = evidence.isMostlyUtf8 ? new EncodingPhrases() : await readPhrases()
    return { ...evidence.guess(phrases), basis }
  }
  if (!evidence.isUtf8 || encoding === 'utf-8') return detected
  if (basis === 'configured') {
    const warning = `format.encoding says ${encoding}, but the file is valid UTF-8 throughout`
    return { encoding, basis, warning }
  }
  const warning = `the XML declaration says ${encoding}, but the file is valid UTF-8 throughout: read as utf-8; set format.encoding if that is wrong`
  return { encoding: 'utf-8', basis: 'detected', warning }
}

/** Whether what the bytes say can add anything. */
export function isProvisional({ encoding, basis }: DetectedEncoding): boolean {
  return basis !== 'bom' && !encoding.startsWith('utf-16') && !encoding.startsWith('utf-32')
}

/** What the byte order mark at the beginning says. */
export function markedEncoding(head: Buffer): Encoding | undefined {
  return marks.find(({ bytes }) => head.subarray(0, bytes.length).equals(bytes))?.encoding
}

/**
 * Separators, digits and line ends are ASCII in every feed: in UTF-16 each has a zero byte, always on the same side.
 * The first character nearly always is too; where it is not, far more zeros are asked for, since a stray zero byte in
 * a short file proves nothing.
 */
function detectUtf16(head: Buffer): Encoding | undefined {
  const zeros: [number, number] = [0, 0]
  for (let at = 0; at < head.length; at++) if (head[at] === 0) zeros[(at % 2) as 0 | 1] += 1
  const [even, odd] = zeros
  const units = head.length / 2
  if (odd > even * 10 && odd > units * (head[1] === 0 ? 0.05 : 0.25)) return 'utf-16le'
  if (even > odd * 10 && even > units * (head[0] === 0 ? 0.05 : 0.25)) return 'utf-16be'
  return undefined
}

/** Of characters in four bytes the first or last byte is always zero, and the one beside it nearly always. */
function detectUtf32(head: Buffer): Encoding | undefined {
  const zeros = [0, 0, 0, 0]
  for (let at = 0; at < head.length; at++) if (head[at] === 0) zeros[at % 4] = (zeros[at % 4] ?? 0) + 1
  const units = Math.floor(head.length / 4)
  const share = (place: number) => (zeros[place] ?? 0) / units
  if (units < 2) return undefined
  if (share(3) >= 1 && share(2) > 0.9 && share(0) < 0.1) return 'utf-32le'
  return share(0) >= 1 && share(1) > 0.9 && share(3) < 0.1 ? 'utf-32be' : undefined
}

/** Of an XML declaration that can be read as single bytes, which no UTF-16 file has, whatever it says. */
function declaredEncoding(head: Buffer): Encoding | undefined {
  const declaration = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(
    head.toString('latin1', 0, 1000),
  )
  const encoding = encodingOf(declaration?.[1] ?? '')
  return encoding === undefined || /^utf-(16|32)/.test(encoding) ? undefined : encoding
}

function guess({ bytes, complete }: Sample): EncodingGuess {
  const evidence = new EncodingEvidence()
  const phrases = new EncodingPhrases()
  for (const each of [evidence, phrases]) {
    each.add(bytes)
    // A sequence that the sample cuts off is no evidence.
    if (complete) each.end()
  }
  return evidence.guess(phrases)
}
