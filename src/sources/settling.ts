import type { Stats } from 'node:fs'
import type { FeedMode } from '../config/model.ts'
import type { Candidate } from './claim-candidate.ts'
import { isAsSeen } from './claim-file.ts'
import type { RawName } from './entry-name.ts'

export interface FoundFile {
  raw: RawName
  mode: FeedMode
  stats: Stats
}

/** A file as it looks, and for how long. Times are monotonic but for those of the file. */
export interface ObservedFile extends Candidate {
  /** Set by the system alone, when the file is written, renamed or given rights. */
  ctimeMs: number
  sinceMs: number
  seenMs: number
  /** Cannot be claimed now; tried again after the next scan. */
  isSetAside: boolean
}

/**
 * Which files of a drop folder have settled: size and time are unchanged, as we saw it ourselves, for `forMs`. The clocks
 * of the writers do not matter. Holds at most `filesMax` files; of more, the oldest.
 */
export class Settling {
  readonly #forMs: number
  readonly #filesMax: number
  #observed = new Map<RawName, ObservedFile>()
  #scanned: ObservedFile[] = []

  constructor({ forMs, filesMax }: { forMs: number; filesMax: number }) {
    this.#forMs = forMs
    this.#filesMax = filesMax
  }

  /** One look at one file, outside a scan. */
  see(file: FoundFile, nowMs: number): void {
    if (this.#observed.size < this.#filesMax || this.#observed.has(file.raw)) {
      this.#observed.set(file.raw, this.#look(file, nowMs))
    }
  }

  scan(file: FoundFile, nowMs: number): void {
    this.#scanned.push({ ...this.#look(file, nowMs), isSetAside: false })
    if (this.#scanned.length > this.#filesMax * 2) this.#keepOldest()
  }

  /** Ends a scan: what it did not see is forgotten, what was set aside is tried again. */
  endScan(): void {
    this.#keepOldest()
    this.#observed = new Map(this.#scanned.map((file) => [file.raw, file]))
    this.#scanned = []
  }

  /** After a scan that failed half-way. */
  dropScan(): void {
    this.#scanned = []
  }

  forget(raw: RawName): void {
    this.#observed.delete(raw)
  }

  setAside(raw: RawName): void {
    const observed = this.#observed.get(raw)
    if (observed) observed.isSetAside = true
  }

  names(): RawName[] {
    return [...this.#observed.keys()]
  }

  /** To be looked at again: unchanged since, they have settled. */
  due(nowMs: number): RawName[] {
    const isDue = ({ sinceMs, seenMs }: ObservedFile) =>
      nowMs - sinceMs >= this.#forMs && seenMs - sinceMs < this.#forMs
    return this.#pending().flatMap((file) => (isDue(file) ? [file.raw] : []))
  }

  settled(): ObservedFile[] {
    return this.#pending()
      .filter(({ sinceMs, seenMs }) => seenMs - sinceMs >= this.#forMs)
      .sort(byTimeThenName)
  }

  /** How long until a file is due; undefined when none waits. */
  nextDueMs(nowMs: number): number | undefined {
    let next: number | undefined
    for (const { sinceMs } of this.#pending()) {
      const wait = Math.max(0, sinceMs + this.#forMs - nowMs)
      if (next === undefined || wait < next) next = wait
    }
    return next
  }

  #pending(): ObservedFile[] {
    return [...this.#observed.values()].filter(({ isSetAside }) => !isSetAside)
  }

  #keepOldest(): void {
    if (this.#scanned.length <= this.#filesMax) return
    this.#scanned.sort(byTimeThenName)
    this.#scanned.length = this.#filesMax
  }

  #look({ raw, mode, stats }: FoundFile, nowMs: number): ObservedFile {
    const before = this.#observed.get(raw)
    const isUnchanged = before !== undefined && isAsSeen(stats, before)
    return {
      raw,
      mode,
      size: stats.size,
      mtimeMs: stats.mtimeMs,
      ctimeMs: stats.ctimeMs,
      inode: stats.ino,
      sinceMs: isUnchanged ? before.sinceMs : nowMs,
      seenMs: nowMs,
      isSetAside: isUnchanged && before.isSetAside,
    }
  }
}

function byTimeThenName(a: Candidate, b: Candidate): number {
  if (a.mtimeMs !== b.mtimeMs) return a.mtimeMs - b.mtimeMs
  return a.raw < b.raw ? -1 : 1
}
