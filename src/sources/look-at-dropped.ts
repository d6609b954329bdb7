import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import type { FeedConfig } from '../config/model.ts'
import { ifPresent, isOperatingFailure } from '../lib/errors.ts'
import { missingSide } from './claim-candidate.ts'
import { entryPath, type RawName, shownName } from './entry-name.ts'
import { compileRoles, type LeftAlone, noteLeftAlone } from './entry-roles.ts'
import { markersOf } from './file-patterns.ts'
import { lstatIfPresent, scanIfPresent } from './folder-scan.ts'
import { oldMarkerQuietMs } from './markers.ts'
import { readSides } from './read-sides.ts'

type LookedAtFeed = Pick<FeedConfig, 'name' | 'files' | 'dropDir' | 'settle' | 'verify'>

/** What lies in the drop folder of a feed, as anybody may look at it. */
export interface Dropped {
  /** Files of the feed, not accepted yet: at most the first 1,000. */
  files: number
  /** The first of them by name. */
  examples: DroppedFile[]
  leftAlone: LeftAlone
  /** The folder has so many entries that not all were looked at. */
  isPart: boolean
}

export interface DroppedFile {
  name: string
  bytes: number
  /** When its size or content changed last, or it was renamed into the folder; ISO 8601. */
  changedAt: string
  /** When the file was made, which may have been elsewhere; null: the file system does not keep it. */
  madeAt: string | null
  /** As far as it can be known from outside; null: for the process that accepts. */
  waitsFor: Awaited | null
}

/** `settle`: it changed so lately that it may still grow. `old-marker`: the marker may be that of an earlier file of the name. */
export type Awaited =
  | { kind: 'settle'; forMs: number }
  | { kind: 'marker'; names: string[] }
  | { kind: 'old-marker'; names: string[]; forMs: number }
  | { kind: 'side-file'; names: string[] }

const filesMax = 1_000
const entriesMax = 20_000
const examplesMax = 5

/** `feeds`: all of the catalog, some of which may share the folder. Looks only. */
export async function lookAtDropped(
  feed: LookedAtFeed,
  { feeds, nowMs }: { feeds: Iterable<LookedAtFeed>; nowMs: number },
): Promise<Dropped> {
  const dropped: Dropped = { files: 0, examples: [], leftAlone: { count: 0, examples: [] }, isPart: false }
  if (feed.dropDir === '') return dropped
  const found = await scan(feed, { feeds, dropped }).catch((error: unknown) => {
    if (!isOperatingFailure(error)) throw error
    // The process that accepts says why it cannot be read.
    dropped.isPart = true
    return []
  })
  dropped.files = found.length
  for (const raw of found.sort()) {
    if (dropped.examples.length === examplesMax) break
    const stats = await ifPresent(lstat(entryPath(feed.dropDir, raw)))
    if (stats === undefined) dropped.files -= 1
    else dropped.examples.push(await describeFile(feed, { raw, stats, nowMs }))
  }
  return dropped
}

/** The files of the feed; notes what is left alone. */
async function scan(
  feed: LookedAtFeed,
  { feeds, dropped }: { feeds: Iterable<LookedAtFeed>; dropped: Dropped },
): Promise<RawName[]> {
  const roleOf = compileRoles(feed, feeds)
  const found: RawName[] = []
  let entries = 0
  for await (const entry of scanIfPresent(feed.dropDir)) {
    entries += 1
    const role = roleOf(entry)
    if (role.role === 'file') found.push(entry.raw)
    else if (role.role === 'left-alone') noteLeftAlone(dropped.leftAlone, entry.raw, role.reason)
    dropped.isPart = entries >= entriesMax || found.length >= filesMax
    if (dropped.isPart) break
  }
  return found
}

interface Looked {
  raw: RawName
  stats: Stats
  /** Since the epoch. */
  nowMs: number
}

async function describeFile(feed: LookedAtFeed, looked: Looked): Promise<DroppedFile> {
  const { raw, stats } = looked
  const { settle, dropDir } = feed
  const waitsFor =
    settle.kind === 'marker'
      ? await markerAwaited(dropDir, settle.pattern, looked)
      : quietAwaited(settle.forMs, looked)
  return {
    name: shownName(raw),
    bytes: stats.size,
    changedAt: new Date(stats.ctimeMs).toISOString(),
    madeAt: stats.birthtimeMs > 0 ? new Date(stats.birthtimeMs).toISOString() : null,
    waitsFor: waitsFor ?? (await sideAwaited(feed, looked)),
  }
}

/** As `Settling` judges it, from a single look: the system sets this time whenever a file is written. */
function quietAwaited(forMs: number, { stats, nowMs }: Looked): Awaited | null {
  return nowMs - stats.ctimeMs < forMs ? { kind: 'settle', forMs } : null
}

/** As `Markers` judges it. */
async function markerAwaited(
  dir: string,
  pattern: string,
  { raw, stats, nowMs }: Looked,
): Promise<Awaited | null> {
  // Only ASCII is added to the name or taken from it: the raw form of the one is the raw form of the other.
  const rawNames = markersOf(pattern, raw)
  const names = rawNames.map(shownName)
  const found = await Promise.all(rawNames.map((name) => lstatIfPresent(entryPath(dir, name))))
  const times = found.flatMap((marker) => (marker?.isFile() ? [marker.ctimeMs] : []))
  if (times.length === 0) return { kind: 'marker', names }
  const isOld = Math.max(...times) < stats.ctimeMs && nowMs - stats.ctimeMs < oldMarkerQuietMs
  return isOld ? { kind: 'old-marker', names, forMs: oldMarkerQuietMs } : null
}

async function sideAwaited(feed: LookedAtFeed, { raw, nowMs }: Looked): Promise<Awaited | null> {
  // One that cannot be read is told of by the process that accepts.
  const sides = await readSides(feed.dropDir, raw).catch(() => undefined)
  const kind = sides && missingSide(feed, sides, nowMs)
  return kind === undefined ? null : { kind: 'side-file', names: [`${shownName(raw)}.${kind}`] }
}
