import type { Lane } from '../catalog/model.ts'
import { type LaneRank, laneRank } from './lanes.ts'

/** What stands in `sending` of one product. */
export interface SendingRow {
  lane: LaneRank | null
  number: number | null
  since: number | null
  /** 1: Redis may know the place by an earlier number. */
  known: 1 | null
  digest: Uint8Array | null
  acknowledged: Uint8Array | null
}

/** `waiting`: deferred without a number. `numbered`: gets the next number of its lane. */
export type NextPlace =
  | { kind: 'kept' }
  | { kind: 'none' }
  | { kind: 'waiting'; since: number }
  | { kind: 'numbered'; rank: LaneRank; since: number }

interface Edit {
  row: SendingRow
  lane: Lane
  /** Undefined: the product has no document any more. */
  digest: Uint8Array | undefined
  nowMs: number
  /** Whether the pump has read this number of the row's lane. */
  isRead: (rank: LaneRank, number: number) => boolean
}

/**
 * Which place a product has after an edit. A product moves up only, so that a scan behind a number is complete. What is
 * undone loses its place where it has no number yet; else Redis may hold something of it, and the offer decides. Pure.
 */
export function placeAfterEdit({ row, lane, digest, nowMs, isRead }: Edit): NextPlace {
  const wanted = row.acknowledged === null && lane === 'deferred' ? laneRank.new : laneRank[lane]
  const since = row.since ?? nowMs
  if (row.lane === null || row.number === null) {
    if (digest === undefined || sameBytes(row.acknowledged, digest)) return { kind: 'none' }
    if (wanted !== laneRank.deferred) return { kind: 'numbered', rank: wanted, since }
    return row.lane === null ? { kind: 'waiting', since } : { kind: 'kept' }
  }
  const rank = digest !== undefined && wanted < row.lane ? wanted : row.lane
  const isMoved = rank !== row.lane || isRead(row.lane, row.number)
  return isMoved ? { kind: 'numbered', rank, since } : { kind: 'kept' }
}

export function sameBytes(one: Uint8Array | null | undefined, other: Uint8Array | null | undefined): boolean {
  // What the disk has changed may be no bytes any more: then it is not believed.
  const areBytes = one instanceof Uint8Array && other instanceof Uint8Array
  return areBytes && Buffer.compare(one, other) === 0
}
