import type { FeedConfig } from '../../config/model.ts'
import type { Clock } from '../../lib/clock.ts'
import { compileNameTime, type ReadTime } from '../as-of.ts'
import { isTemporaryName } from '../entry-name.ts'
import { compileMarkerPattern, compilePatterns, isSideOf, markersOf } from '../file-patterns.ts'
import type { RemoteFile } from './pull-state.ts'

interface Sighting {
  /** Of all files that belong to the feed. */
  names: string[]
  /** Those that are complete, oldest first. */
  ready: RemoteFile[]
  /** When the next ones would be, if they do not change. */
  settlesInMs: number | undefined
}

/** Which files of a remote folder are complete, as far as looking at it can tell. */
export class Sightings {
  readonly #feed: FeedConfig
  readonly #clock: Clock
  readonly #nameTime: ReadTime | undefined
  /** By name: as it was seen, and since when it has not changed. */
  #seen = new Map<string, { file: RemoteFile; sinceMs: number }>()

  constructor({ feed, clock }: { feed: FeedConfig; clock: Clock }) {
    this.#feed = feed
    this.#clock = clock
    this.#nameTime = compileNameTime(feed.asOf)
  }

  /**
   * Takes up a listing.
   */
  look(listing: readonly RemoteFile[]): Sighting {
    const own = this.#ownFiles(listing)
    const now = this.#clock.monotonic()
    this.#seen = new Map(
      own.map((file) => {
        const before = this.#seen.get(file.name)
        return [file.name, before && isSameFile(before.file, file) ? before : { file, sinceMs: now }]
      }),
    )
    const waits = own.map((file) => this.#waitOf(file.name, now))
    const ready = own.filter((_, index) => (waits[index] ?? 0) <= 0)
    const waiting = waits.filter((wait) => wait > 0)
    const ageOf = ({ name, modifiedMs }: RemoteFile) => this.#nameTime?.(name) ?? modifiedMs
    const byAge = (a: RemoteFile, b: RemoteFile) => ageOf(a) - ageOf(b) || (a.name < b.name ? -1 : 1)
    const names = own.map(({ name }) => name)
    return {
      names,
      ready: ready.sort(byAge),
      settlesInMs: waiting.length > 0 ? Math.min(...waiting) : undefined,
    }
  }

  /** Markers of a file that is gone from the folder, which announce none of the others. */
  markersToRemove(name: string, others: Iterable<string>): string[] {
    const { settle } = this.#feed
    if (settle.kind !== 'marker') return []
    const needed = new Set([...others].flatMap((other) => markersOf(settle.pattern, other)))
    return markersOf(settle.pattern, name).filter((marker) => !needed.has(marker))
  }

  #ownFiles(listing: readonly RemoteFile[]): RemoteFile[] {
    const { files, settle } = this.#feed
    const modeOf = compilePatterns(files)
    const isOwn = ({ name }: RemoteFile) =>
      modeOf(name) !== undefined && !isTemporaryName(name) && !isSideOf(name, modeOf)
    if (settle.kind === 'quiet') return listing.filter(isOwn)
    const isMarker = compileMarkerPattern(settle.pattern)
    const names = new Set(listing.map(({ name }) => name))
    return listing.filter(
      (file) =>
        isOwn(file) &&
        !isMarker(file.name) &&
        markersOf(settle.pattern, file.name).some((marker) => names.has(marker)),
    )
  }

  #waitOf(name: string, now: number): number {
    const { settle } = this.#feed
    const sinceMs = this.#seen.get(name)?.sinceMs ?? now
    return settle.kind === 'quiet' ? sinceMs + settle.forMs - now : 0
  }
}

export function isSameFile(one: RemoteFile, other: RemoteFile): boolean {
  return one.bytes === other.bytes && one.modifiedMs === other.modifiedMs && one.etag === other.etag
}
