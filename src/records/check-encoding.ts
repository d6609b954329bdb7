import { isUtf8 } from 'node:buffer'
import type { DamagePlaces } from './damage-places.ts'
import { issueOf, type RecordIssue, type RecordSlice, reasonColumn } from './model.ts'
import { sequenceLength } from './utf8-tally.ts'

const replacementCharacter = Buffer.from('\ufffd', 'utf8')

/**
 * Issues of records that were not decodable (rejected), or that already came with replacement characters (warned
 * about), by record number. In a file of rejects such a character stands where this program could not decode the
 * original, so there it rejects too. Costs next to nothing when all of the slices are sound.
 */
export function checkEncoding(
  slices: readonly RecordSlice[],
  columns: readonly string[],
  places: DamagePlaces | undefined,
): Map<number, RecordIssue> {
  const severity = columns.includes(reasonColumn) ? 'reject' : 'warn'
  const issues = new Map<number, RecordIssue>()
  const valid = everyValid(slices)
  for (const slice of slices) {
    if (!valid && !isUtf8(slice.bytes)) issues.set(slice.record, invalid(slice, places))
    else if (slice.bytes.includes(replacementCharacter)) issues.set(slice.record, replaced(slice, severity))
  }
  return issues
}

/** Slices of one chunk lie in one memory, in order. What lies between them is text of other records. */
export function everyValid(slices: readonly RecordSlice[]): boolean {
  const first = slices[0]?.bytes
  const last = slices.at(-1)?.bytes
  if (first === undefined || last === undefined) return true
  if (first.buffer !== last.buffer) return slices.every(({ bytes }) => isUtf8(bytes))
  return isUtf8(Buffer.from(first.buffer, first.byteOffset, last.byteOffset + last.length - first.byteOffset))
}

function invalid(slice: RecordSlice, places: DamagePlaces | undefined): RecordIssue {
  const { bytes, offset } = slice
  let at = 0
  for (let length = sequenceLength(bytes, 0); length > 0; length = sequenceLength(bytes, at)) at += length
  const byte = places?.fileOffset(offset + at)
  const place = byte === undefined ? '' : `, first at byte ${byte} of ${places?.whole}`
  const remedy = 'export it again in one encoding, or set format.encoding'
  const found = `holds bytes that mean nothing in the encoding of the file${place}`
  return issueOf(slice, { code: 'invalid-encoding', found, remedy })
}

function replaced(slice: RecordSlice, severity: RecordIssue['severity']): RecordIssue {
  const remedy = 'write the right text in its place'
  const found = 'holds the character U+FFFD, which stands for text that was lost'
  return { ...issueOf(slice, { code: 'replacement-character', found, remedy }), severity }
}
