import type { Stats } from 'node:fs'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { ifPresent } from '../lib/errors.ts'
import { compileNameTime, type ReadTime } from './as-of.ts'
import { displayName, entryPath, isTemporaryName, type RawName } from './entry-name.ts'
import { compileRoles, type EntryRole, type LeftAlone, noteLeftAlone } from './entry-roles.ts'
import { type FileCalls, pooledCalls } from './file-calls.ts'
import { compileNames, isSideOf, type MatchMode, ownersOf, parseSideName } from './file-patterns.ts'
import { type FolderEntry, scanFolder } from './folder-scan.ts'
import { mapPool } from './growth.ts'
import { Markers } from './markers.ts'
import { type FoundFile, type ObservedFile, Settling } from './settling.ts'

interface DropFolderOptions {
  feed: FeedConfig
  clock: Clock
  /** All that are watched: some may share the folder. */
  feeds: readonly FeedConfig[]
}

export interface ScanResult {
  leftAlone: LeftAlone
  /** Side files that belong to nothing any more. */
  orphans: RawName[]
}

const filesMax = 50_000
const lookAtOnce = 512

/** What is in the drop folder of a feed, and which of its files can be accepted. */
export class DropFolder {
  readonly dir: string
  readonly #clock: Clock
  readonly #roleOf: (entry: FolderEntry) => EntryRole
  readonly #matchMode: MatchMode
  readonly #settling: Settling
  readonly #markers: Markers | undefined
  readonly #nameTime: ReadTime | undefined
  readonly #orphans = new OrphanSides()

  constructor({ feed, feeds, clock }: DropFolderOptions) {
    this.dir = feed.dropDir
    this.#clock = clock
    this.#roleOf = compileRoles(feed, feeds)
    this.#matchMode = compileNames(feed)
    this.#nameTime = compileNameTime(feed.asOf)
    const { settle } = feed
    this.#settling = new Settling({ forMs: settle.kind === 'quiet' ? settle.forMs : 0, filesMax })
    this.#markers =
      settle.kind === 'marker' ? new Markers({ dir: feed.dropDir, pattern: settle.pattern }) : undefined
  }

  /** With markers, what one event means depends on other entries. */
  get needsScans(): boolean {
    return this.#markers !== undefined
  }

  async scan(): Promise<ScanResult> {
    const leftAlone: LeftAlone = { count: 0, examples: [] }
    await this.#markers?.scan()
    let block: RawName[] = []
    try {
      for await (const entry of scanFolder(this.dir)) {
        this.#noteSide(entry)
        const role = this.#roleOf(entry)
        if (role.role === 'left-alone') noteLeftAlone(leftAlone, entry.raw, role.reason)
        else if (role.role === 'file' && this.#markers?.isMarked(entry.raw) !== false) block.push(entry.raw)
        if (block.length === lookAtOnce) {
          await this.#lookAt(block, (file, nowMs) => this.#settling.scan(file, nowMs))
          block = []
        }
      }
      await this.#lookAt(block, (file, nowMs) => this.#settling.scan(file, nowMs))
    } catch (error) {
      this.#settling.dropScan()
      this.#orphans.drop()
      throw error
    }
    this.#settling.endScan()
    const names = this.names()
    const mayMissFiles = names.size >= filesMax
    const orphans = this.#orphans.endScan((raw) => mayMissFiles || names.has(raw), this.#clock.monotonic())
    return { leftAlone, orphans }
  }

  /** Looks at some entries, and at the files that would have settled by now. */
  async look(names: Iterable<RawName>, calls: FileCalls): Promise<void> {
    const due = this.#settling.due(this.#clock.monotonic())
    const wanted = [...new Set([...names, ...due])].filter((raw) => this.#modeOf(raw) !== undefined)
    await this.#lookAt(wanted, (file, nowMs) => this.#settling.see(file, nowMs), calls)
  }

  /** By what the name says of its time, else by time, then name. */
  ready(): ObservedFile[] {
    const settled = this.#settling.settled()
    const files = this.#markers ? settled.filter((file) => this.#markers?.isReady(file)) : settled
    if (!this.#nameTime) return files
    const dated = files.map((file) => ({ ...file, ...this.#asOf(file.raw) }))
    // Stable: of one time they stay in the order of mtime and name.
    return dated.sort((a, b) => (a.asOfMs ?? a.mtimeMs) - (b.asOfMs ?? b.mtimeMs))
  }

  /** How long until a file has to be looked at; undefined: events and scans are enough. */
  nextDueMs(): number | undefined {
    return this.#markers ? undefined : this.#settling.nextDueMs(this.#clock.monotonic())
  }

  /** Of the files that it has found and that were not accepted yet. */
  names(): ReadonlySet<RawName> {
    return new Set(this.#settling.names())
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

  #noteSide({ raw, kind }: FolderEntry): void {
    const name = displayName(raw)
    if (isTemporaryName(name)) this.#orphans.addTemporary(name)
    else if (kind === 'file' && !this.#markers?.isMarker(name) && isSideOf(name, this.#matchMode)) {
      this.#orphans.add(raw)
    }
  }

  #asOf(raw: RawName): { asOfMs?: number } {
    const asOfMs = this.#nameTime?.(displayName(raw))
    return asOfMs === undefined ? {} : { asOfMs }
  }

  #modeOf(raw: RawName): FeedMode | undefined {
    const role = this.#roleOf({ raw, kind: 'file' })
    return role.role === 'file' ? role.mode : undefined
  }

  async #lookAt(
    names: readonly RawName[],
    found: (file: FoundFile, nowMs: number) => void,
    calls = pooledCalls,
  ): Promise<void> {
    const stats = await mapPool(names, 16, (raw) => ifPresent(calls.lstat(entryPath(this.dir, raw))))
    const nowMs = this.#clock.monotonic()
    for (const [position, raw] of names.entries()) {
      const mode = this.#modeOf(raw)
      const stat: Stats | undefined = stats[position]
      if (stat?.isFile() && mode) found({ raw, mode, stats: stat }, nowMs)
      else this.#settling.forget(raw)
    }
  }
}

/** A writer may send the side file long before the file, or after the file was accepted. */
const keptMs = 3_600_000

/** Side files of a drop folder to which no file belongs: those that have lain there for an hour are to be removed. */
export class OrphanSides {
  #sinceMs = new Map<RawName, number>()
  #found: RawName[] = []
  #temporary: string[] = []

  add(raw: RawName): void {
    this.#found.push(raw)
  }

  /** A file of a scan that its writer has not finished: its side files may be there already. */
  addTemporary(name: string): void {
    if (this.#temporary.length < 1000) this.#temporary.push(name)
  }

  /** Ends a scan of the whole folder. `isThere`: whether a file of that name waits to be accepted. */
  endScan(isThere: (raw: RawName) => boolean, nowMs: number): RawName[] {
    const sinceMs = new Map<RawName, number>()
    for (const raw of this.#found) {
      const side = parseSideName(raw)
      if (!side || ownersOf(side).some(isThere)) continue
      const stem = displayName(side.stem)
      if (this.#temporary.some((name) => name.includes(stem))) continue
      sinceMs.set(raw, this.#sinceMs.get(raw) ?? nowMs)
    }
    this.drop()
    this.#sinceMs = sinceMs
    return [...sinceMs].filter(([, since]) => nowMs - since >= keptMs).map(([raw]) => raw)
  }

  /** After a scan that failed half-way. */
  drop(): void {
    this.#found = []
    this.#temporary = []
  }
}
