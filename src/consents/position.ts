import type { AcceptSequence, Brand } from '../lib/brand.ts'

/**
 * Where in the order of acceptance a record stands: accept sequence of its file, then its place in the file. Digits of a
 * fixed number, so that texts compare as the positions do.
 */
export type ConsentPosition = Brand<string, 'ConsentPosition'>

const digits = 10

/** `record` counts from 0 or 1, as long as it grows within the file. */
export function positionOf(sequence: AcceptSequence, record: number): ConsentPosition {
  return (pad(sequence) + pad(record)) as ConsentPosition
}

export function sequenceOf(position: ConsentPosition): number {
  return Number(position.slice(0, digits))
}

function pad(value: number): string {
  const text = String(value)
  if (!/^\d{1,10}$/.test(text)) throw new RangeError(`${text} is no part of a position`)
  return text.padStart(digits, '0')
}
