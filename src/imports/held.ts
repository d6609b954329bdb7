import type { FeedName } from '../lib/brand.ts'
import type { Removals } from './removals.ts'

/** What of a feed waits for the operator; stands in Redis under the feed's name. */
export type Held =
  | {
      kind: 'removals'
      sequence: number
      file: string
      at: string
      reason: string
      missing: number
      of: number
    }
  | { kind: 'file'; sequence: number; file: string; at: string; reason: string }

interface HoldOptions {
  removals: Removals
  atMost: number
  records: number
  rejected: number
  rejectsAtMost: number
  unreadableIds: number
}

/** Why the removals of a full file must wait for approval; undefined: they may be applied. Pure. */
export function reasonToHold(options: HoldOptions): string | undefined {
  const { removals, atMost, records, rejected, rejectsAtMost, unreadableIds } = options
  if (removals.missing === 0) return undefined
  if (records === 0) return 'the file has a header and no record'
  if (records - rejected <= 0) return `the file has no valid record: all ${records} are rejected`
  if (unreadableIds > 0) return `the id of ${unreadableIds} of ${records} records cannot be read`
  if (rejected > records * rejectsAtMost) {
    return `${rejected} of ${records} records are rejected, more than rejects.atMost (${percent(rejectsAtMost)})`
  }
  if (removals.missing > removals.of * atMost) {
    return `${removals.missing} of ${removals.of} products are missing, more than missing.atMost (${percent(atMost)})`
  }
  return undefined
}

export function parseHeld(text: string | null): Held | undefined {
  return text === null ? undefined : (JSON.parse(text) as Held)
}

/** What is held, in a few words: follows "Approved" or "Discarded". */
export function describeHeld(feed: FeedName, held: Held): string {
  if (held.kind === 'file') return `the file ${held.file} of feed ${feed}, although ${held.reason}`
  const { missing, of, file } = held
  return `the removal of ${missing} of ${of} products of feed ${feed} that ${file} no longer names`
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10}%`
}
