import type { Stats } from 'node:fs'
import type { FeedConfig } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { displayName, entryPath, isTemporaryName, type RawName } from './entry-name.ts'
import { compilePatterns, type MatchMode } from './file-patterns.ts'
import { type FolderEntry, lstatIfPresent, scanFolder } from './folder-scan.ts'
import { Markers } from './markers.ts'
import { mapPool } from './pool.ts'
import { type FoundFile, type ObservedFile, Settling } from './settling.ts'

interface DropFolderOptions {
  feed: FeedConfig
  clock: Clock
  /** Whether another feed of the same folder takes a file of that name. */
  isForeign: (name: string) => boolean
}

export interface ScanResult {
  entries: number
  leftAlone: LeftAlone
}

/** Entries that are never accepted, for the operator to know. */
export interface LeftAlone {
  count: number
  examples: string[]
}

const filesMax = 50_000
const lookAtOnce = 512
const examplesMax = 5
const kindWords = {
  folder: 'a folder',
  link: 'a symbolic link',
  device: 'no regular file',
  file: 'no pattern matches',
}

/** What is in the drop folder of a feed, and which of its files can be accepted. */
export class DropFolder {
  readonly dir: string
  readonly #clock: Clock
  readonly #isForeign: (name: string) => boolean
  readonly #matchMode: MatchMode
  readonly #settling: Settling
  readonly #markers: Markers | undefined

  constructor({ feed, clock, isForeign }: DropFolderOptions) {
    this.dir = feed.dropDir
    this.#clock = clock
    this.#isForeign = isForeign
    this.#matchMode = compilePatterns(feed.files)
    const { settle } = feed
    this.#settling = new Settling({ forMs: settle.kind === 'quiet' ? settle.forMs : 0, filesMax })
    this.#markers =
      settle.kind === 'marker' ? new Markers({ dir: feed.dropDir, pattern: settle.pattern }) : undefined
  }

  /** With markers, what one event means depends on other entries. */
  get needsScans(): boolean {
    return this.#markers !== undefined
  }

  /** Looks at the whole folder. */
  async scan(): Promise<ScanResult> {
    const leftAlone: LeftAlone = { count: 0, examples: [] }
    let entries = 0
    await this.#markers?.scan()
    let block: RawName[] = []
    try {
      for await (const entry of scanFolder(this.dir)) {
        entries++
        const reason = this.#reasonToLeave(entry)
        if (reason === undefined) block.push(entry.raw)
        else if (reason) noteLeftAlone(leftAlone, `${displayName(entry.raw)} (${reason})`)
        if (block.length === lookAtOnce) {
          await this.#lookAt(block, (file, nowMs) => this.#settling.scan(file, nowMs))
          block = []
        }
      }
      await this.#lookAt(block, (file, nowMs) => this.#settling.scan(file, nowMs))
    } catch (error) {
      this.#settling.dropScan()
      throw error
    }
    this.#settling.endScan()
    return { entries, leftAlone }
  }

  /** Looks at some entries, and at the files that would have settled by now. */
  async look(names: Iterable<RawName>): Promise<void> {
    const due = this.#settling.due(this.#clock.monotonic())
    const wanted = [...new Set([...names, ...due])].filter(
      (raw) => this.#modeOf(displayName(raw)) !== undefined,
    )
    await this.#lookAt(wanted, (file, nowMs) => this.#settling.see(file, nowMs))
  }

  /** By time, then name. */
  ready(): ObservedFile[] {
    const settled = this.#settling.settled()
    return this.#markers ? settled.filter((file) => this.#markers?.isReady(file)) : settled
  }

  /** How long until a file has to be looked at; undefined: events and scans are enough. */
  nextDueMs(): number | undefined {
    return this.#markers ? undefined : this.#settling.nextDueMs(this.#clock.monotonic())
  }

  forget(names: readonly RawName[]): void {
    for (const raw of names) this.#settling.forget(raw)
  }

  setAside(names: readonly RawName[]): void {
    for (const raw of names) this.#settling.setAside(raw)
  }

  async removeMarkers(accepted: readonly RawName[]): Promise<void> {
    await this.#markers?.remove(accepted, this.#settling.names())
  }

  /** Undefined: may be accepted. Empty: nothing to tell. */
  #reasonToLeave({ raw, kind }: FolderEntry): string | undefined {
    const name = displayName(raw)
    if (isTemporaryName(name) || this.#markers?.isMarker(name) || this.#isForeign(name)) return ''
    if (kind !== 'file') return kindWords[kind]
    if (this.#modeOf(name) === undefined) return kindWords.file
    return this.#markers && !this.#markers.isMarked(raw) ? '' : undefined
  }

  #modeOf(name: string) {
    return isTemporaryName(name) || this.#markers?.isMarker(name) ? undefined : this.#matchMode(name)
  }

  async #lookAt(names: readonly RawName[], found: (file: FoundFile, nowMs: number) => void): Promise<void> {
    const stats = await mapPool(names, 16, (raw) => lstatIfPresent(entryPath(this.dir, raw)))
    const nowMs = this.#clock.monotonic()
    for (const [position, raw] of names.entries()) {
      const mode = this.#modeOf(displayName(raw))
      const stat: Stats | undefined = stats[position]
      if (stat?.isFile() && mode) found({ raw, mode, stats: stat }, nowMs)
      else this.#settling.forget(raw)
    }
  }
}

function noteLeftAlone(leftAlone: LeftAlone, text: string): void {
  leftAlone.count++
  if (leftAlone.examples.length < examplesMax) leftAlone.examples.push(text)
}
