import type { Lane } from '../catalog/model.ts'
import { type LaneRank, laneRank } from './lanes.ts'

/** What stands in `sending` of one product. */
export interface SendingRow {
  lane: LaneRank | null
  number: number | null
  since: number | null
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
  const isUndone = digest === undefined || sameBytes(row.acknowledged, digest)
  if (row.number === null && isUndone) return { kind: 'none' }
  const wanted = row.acknowledged === null ? Math.min(laneRank[lane], laneRank.new) : laneRank[lane]
  const rank = (row.lane === null ? wanted : Math.min(wanted, row.lane)) as LaneRank
  const since = row.since ?? nowMs
  if (digest === undefined || rank === row.lane) {
    const isOffered = row.lane !== null && row.number !== null && isRead(row.lane, row.number)
    return isOffered && row.lane !== null ? { kind: 'numbered', rank: row.lane, since } : { kind: 'kept' }
  }
  if (rank === laneRank.deferred) return { kind: 'waiting', since: nowMs }
  return { kind: 'numbered', rank, since: nowMs }
}

export function sameBytes(one: Uint8Array | null | undefined, other: Uint8Array | null | undefined): boolean {
  return one != null && other != null && Buffer.compare(one, other) === 0
}
