import { dirname, join } from 'node:path'
import type { CatalogConfig, FeedConfig, FeedMode } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { WatchedWork } from '../lib/watchdog.ts'
import type { MirrorChunk } from '../mirror/model.ts'
import type { Mirror, MirrorReader } from '../mirror/reader.ts'
import type { Archive, LineManifest } from '../sources/archive.ts'
import type { AcceptLine } from '../sources/model.ts'
import type { ImportTurns } from './import-turns.ts'
import type { PlanRules } from './plan-chunk.ts'
import type { UnexpectedFailures } from './unexpected-failures.ts'

/** What imports of one kind of feeds remember beside the records. */
export interface ImportBook extends Pick<MirrorReader, 'applied' | 'isApplied' | 'held' | 'counts'> {
  /** Resolves when it is as durable as records are. */
  update(change: Omit<MirrorChunk, 'writes'>): Promise<void>
}

/** What of a catalog's configuration decides what its files mean. */
export type FeedsConfig = Pick<CatalogConfig, 'name' | 'feeds' | 'urgent'>

/** What every step of an import of one catalog is given, whatever its feeds hold. */
export interface ImportContext {
  catalog: FeedsConfig
  manifest: LineManifest
  archive: Archive
  /** `state/<catalog>/reports`. */
  reportsDir: string
  book: ImportBook
  unexpectedFailures: UnexpectedFailures
  clock: Clock
  log: Log
  /** The first record of a file is about to be applied. */
  onApplying?: ((accept: AcceptLine) => void) | undefined
  signal: AbortSignal
}

export interface ProductParts {
  rules: PlanRules
  /** Of all that the configuration says of what records mean. */
  rulesDigest: string
  mirror: Mirror
}

export type ProductContext = ImportContext & ProductParts

/** `state/<catalog>/tmp`: what an import reads and cannot hold in memory. On the disk, as folders for temporary files need not be. */
export function spillDirOf({ reportsDir }: Pick<ImportContext, 'reportsDir'>): string {
  return join(dirname(reportsDir), 'tmp')
}

export interface StepContext extends ImportContext {
  feed: FeedConfig
  work: WatchedWork
  turns: ImportTurns
}

export type FeedContext = StepContext & ProductParts

export function readHeld({ book, feed }: Pick<StepContext, 'book' | 'feed'>): Held[] {
  return parseHeld(book.held().get(feed.name))
}

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
type HeldRemovals = Holding & { kind: 'removals'; missing: number; of: number }
/** A file of which nothing was applied. */
type HeldFile = Holding & { kind: 'file'; mode: FeedMode }
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
  if (records === 0) return 'the file has no record'
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
  if (held.kind === 'file') return `the file ${held.file} of feed ${feed} (held: ${held.reason})`
  const { missing, of, file } = held
  return `the removal of ${missing} of ${of} products of feed ${feed} that ${file} no longer names`
}

export function percent(share: number): string {
  return `${Math.round(share * 1000) / 10}%`
}
