import type { FeedMode } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'

export interface Removals {
  /** Products of the feed that the file no longer names; the mirror has their ids as held. */
  missing: number
  /** Products of the feed that were not missing before. */
  of: number
}

interface Holding {
  sequence: number
  file: string
  at: string
  reason: string
  /** The decision by which the file is, or was, applied. */
  approvedBy?: number
}

/** The products that a file no longer names; everything else of it was applied. A feed has at most one of these. */
export type HeldRemovals = Holding & { kind: 'removals'; missing: number; of: number }
/** A file of which nothing was applied. */
export type HeldFile = Holding & { kind: 'file'; mode: FeedMode }
/** What of a feed waits for the operator; the mirror has all of a feed under its name, in accept order. */
export type Held = HeldRemovals | HeldFile

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

/** What a feed holds, from the mirror. */
export function parseHeld(text: string | undefined): Held[] {
  if (text === undefined) return []
  // Earlier versions held one thing a feed.
  const value = JSON.parse(text) as Held | Held[]
  return Array.isArray(value) ? value : [value]
}

/** For the mirror; undefined: nothing is held. */
export function formatHeld(held: readonly Held[]): string | undefined {
  return held.length === 0 ? undefined : JSON.stringify(held)
}

interface Following {
  sequence: number
  /** A full file that was applied: what was held of earlier ones is void. */
  supersedes: boolean
  held: Held | undefined
}

/**
 * What a feed holds after a file. A full file that is held itself takes the place of held full files only, and what a file
 * leaves of removals that of earlier ones. Pure.
 */
export function heldAfter(before: readonly Held[], { sequence, supersedes, held }: Following): Held[] {
  const isFullFile = held?.kind === 'file' && held.mode === 'full'
  const kept = before.filter((each) => {
    if (each.sequence === sequence) return false
    if (each.sequence > sequence) return true
    if (each.kind === 'removals' && held?.kind === 'removals') return false
    return !(supersedes || (isFullFile && each.kind === 'file' && each.mode === 'full'))
  })
  return held === undefined ? kept : [...kept, held].sort((a, b) => a.sequence - b.sequence)
}

/** What is held, in a few words: follows "Approved" or "Discarded". */
export function describeHeld(feed: FeedName, held: Held): string {
  if (held.kind === 'file') return `the file ${held.file} of feed ${feed}, although ${held.reason}`
  const { missing, of, file } = held
  return `the removal of ${missing} of ${of} products of feed ${feed} that ${file} no longer names`
}

export function percent(share: number): string {
  return `${Math.round(share * 1000) / 10}%`
}
