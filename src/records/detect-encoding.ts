import type { Encoding } from '../config/model.ts'
import type { Dialect } from './model.ts'
import { Utf8Tally } from './utf8-tally.ts'

export interface DetectedEncoding {
  encoding: Encoding
  basis: Dialect['basis']['encoding']
  /** The configuration says otherwise than the file's byte order mark: the mark wins. */
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
 * A byte order mark, else the configuration, else a guess from the beginning of the (decompressed) file. The guess
 * between UTF-8 and Windows-1252 is provisional: only the whole file decides.
 */
export function detectEncoding(head: Buffer, configured: Encoding | undefined): DetectedEncoding {
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
  return { encoding: detectUtf16(head) ?? detectSingleByte(head), basis: 'detected' }
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

function detectSingleByte(head: Buffer): Encoding {
  // Not ended: a sequence that the sample cuts off is no evidence.
  const tally = new Utf8Tally()
  tally.add(head)
  return tally.encoding
}
