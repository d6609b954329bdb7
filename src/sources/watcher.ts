import type { FeedConfig } from '../config/model.ts'
import { removeIfPresent } from '../lib/durable.ts'
import { describeError, isOperatingFailure } from '../lib/errors.ts'
import { AwaitedSides } from './awaited-sides.ts'
import type { Candidate, DropPlace } from './claim-candidate.ts'
import type { BatchResult, DropAcceptor } from './drop-acceptor.ts'
import { DropFolder } from './drop-folder.ts'
import { displayName, entryPath, isTemporaryName, type RawName } from './entry-name.ts'
import { describeLeftAlone, type LeftAlone } from './entry-roles.ts'
import { EventKeeper } from './event-keeper.ts'
import { describeFolderError, ensureDropFolder, fileAccessError } from './folder-access.ts'
import { Loop } from './loop.ts'
import { fullError, isFull } from './space.ts'
import type { AcceptingParts, Upkeep } from './upkeep.ts'

interface WatcherOptions extends AcceptingParts {
  feed: FeedConfig
  dropAcceptor: DropAcceptor
  upkeep: Upkeep
  /** All that are watched: some may share the folder. */
  feeds: readonly FeedConfig[]
}

const batchFilesMax = 1000
const eventNamesMax = 1000
/** After a failure an event brings the next scan so near; on a full disk room is looked for so often. */
const retryAfterMs = 1000
/** How long a copied file is watched for growth at least. */
const keepCopiedMsMin = 1000

/**
 * Watches the drop folder of a feed and accepts its files until it is disposed; a running batch is finished. One loop: scan (at the start, at intervals, and when events cannot say what changed) or look at what events named →
 * accept what has settled, oldest first, batch by batch → sleep until an event, a file that is due, or the next scan.
 * Events are hints only; every file is found by a scan at the latest. Where the folder or a disk fails, nothing is
 * accepted until the next scan, which sees all that wait in their order: a later file must not overtake them. That scan
 * comes as soon as a full disk has more room.
 */
export class FeedWatcher implements AsyncDisposable {
  readonly #options: WatcherOptions
  readonly #folder: DropFolder
  readonly #place: DropPlace
  readonly #events: EventKeeper
  readonly #loop: Loop
  readonly #refused = new Map<RawName, unknown>()
  readonly #awaited: AwaitedSides
  #named = new Set<RawName>()
  #wantsScan = true
  #scanAtMs = 0
  /** Something failed since the last scan. */
  #isBlocked = false
  /** Of the disk that was too full; undefined: that is not what failed. */
  #roomBytes: number | undefined

  constructor(options: WatcherOptions) {
    this.#options = options
    const { feed, feeds, clock, notices, log } = options
    this.#folder = new DropFolder({ feed, feeds, clock })
    const quietMs = feed.settle.kind === 'quiet' ? feed.settle.forMs : 0
    this.#place = {
      feed: feed.name,
      dropDir: feed.dropDir,
      takesChanged: quietMs === 0,
      keepCopiedMs: quietMs === 0 ? 0 : Math.max(quietMs, keepCopiedMsMin),
      verify: feed.verify,
    }
    this.#awaited = new AwaitedSides({ place: this.#place, clock, notices })
    this.#loop = new Loop(clock, () => this.#turn())
    const onEvent = (raw: RawName | undefined) => this.#noteEvent(raw)
    this.#events = new EventKeeper({ dir: feed.dropDir, place: feed.name, notices, log, onEvent })
    this.#loop.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]()
    await this.#events[Symbol.asyncDispose]()
  }

  async #turn(): Promise<number> {
    if (this.#isBlocked && !this.#isScanDue() && !(await this.#hasMoreRoom())) return this.#restMs()
    try {
      await this.#pass()
      this.#options.notices.clear(`drop:${this.#place.feed}`, '')
    } catch (error) {
      if (!isOperatingFailure(error)) throw error
      await this.#reportFailure(error)
    }
    return this.#restMs()
  }

  /** Costs no scan, which would read a large folder again and again in vain. */
  async #hasMoreRoom(): Promise<boolean> {
    const before = this.#roomBytes
    if (before === undefined) return false
    const room = await this.#readRoom()
    return room >= 0 && room > before
  }

  /** A disk that does not tell has none. */
  async #readRoom(): Promise<number> {
    try {
      return await this.#options.dropAcceptor.room()
    } catch (error) {
      if (isOperatingFailure(error)) return -1
      throw error
    }
  }

  #isScanDue(): boolean {
    return this.#options.clock.monotonic() >= this.#scanAtMs
  }

  async #pass(): Promise<void> {
    const names = this.#named
    this.#named = new Set()
    if (this.#isBlocked || this.#wantsScan || this.#isScanDue()) await this.#scan()
    else {
      const { dropAcceptor } = this.#options
      await this.#folder.look(names, await dropAcceptor.callsFor(this.#place.dropDir, names.size))
    }
    await this.#acceptReady()
  }

  async #scan(): Promise<void> {
    const { clock, rescanMs } = this.#options
    this.#wantsScan = false
    this.#isBlocked = false
    this.#roomBytes = undefined
    this.#refused.clear()
    // Set first: a folder that fails is tried again at the next scan.
    this.#scanAtMs = clock.monotonic() + this.#events.scanMs(rescanMs)
    await ensureDropFolder(this.#place.dropDir)
    // Opened before the scan, so that nothing falls between the two.
    await this.#events.refresh()
    this.#scanAtMs = clock.monotonic() + this.#events.scanMs(rescanMs)
    const { leftAlone, orphans } = await this.#folder.scan()
    this.#awaited.keep(this.#folder.names())
    await this.#removeOrphans(orphans)
    this.#tellLeftAlone(leftAlone)
  }

  async #acceptReady(): Promise<void> {
    let ready = this.#folder.ready()
    let isDiskFull = false
    let neededBytes = 0
    while (ready.length > 0 && !isDiskFull && !this.#loop.isStopping) {
      const batch = ready.slice(0, batchFilesMax)
      const result = await this.#accept(batch)
      ready = ready.slice(result.considered)
      isDiskFull = result.isFull
      neededBytes = result.neededBytes
    }
    const { archiveDir } = this.#options.dropAcceptor
    if (isDiskFull) await this.#reportFailure(fullError(archiveDir, { neededBytes }))
    else this.#options.notices.clear('disk', this.#place.feed)
    this.#tellRefused()
    this.#awaited.tell()
  }

  async #accept(batch: readonly Candidate[]): Promise<BatchResult> {
    const { upkeep, dropAcceptor, onAccepting } = this.#options
    onAccepting?.()
    await upkeep.completeClaims(dropAcceptor.hiddenDirOf(this.#place))
    const result = await dropAcceptor.accept(this.#place, batch)
    const refused = new Set([...result.refused, ...result.waiting].map(({ raw }) => raw))
    const changed = new Set(result.changed)
    const considered = batch.slice(0, result.considered).map(({ raw }) => raw)
    const taken = considered.filter((raw) => !refused.has(raw) && !changed.has(raw))
    this.#folder.setAside([...refused])
    this.#folder.forget([...taken, ...changed])
    for (const { raw, error } of result.refused) this.#refused.set(raw, error)
    this.#awaited.note(batch, result)
    for (const raw of changed) this.#noteEvent(raw)
    this.#watchGrowth(result)
    if (result.accepted.length > 0) this.#options.onAccepted(result.accepted)
    await this.#folder.removeMarkers(taken)
    return result
  }

  #watchGrowth({ accepted, copied }: BatchResult): void {
    const { growth } = this.#options
    if (copied.length === 0) for (const accept of accepted) growth.watch(accept)
    for (const file of copied) growth.watchCopied(file)
  }

  #noteEvent(raw: RawName | undefined): void {
    if (raw !== undefined && isTemporaryName(displayName(raw))) return
    const wantsScan =
      this.#folder.needsScans || (raw !== undefined && this.#awaited.mayEndBy(displayName(raw)))
    if (raw === undefined || wantsScan || this.#named.size >= eventNamesMax) this.#wantsScan = true
    else this.#named.add(raw)
    if (this.#isBlocked) {
      this.#scanAtMs = Math.min(this.#scanAtMs, this.#options.clock.monotonic() + retryAfterMs)
    }
    this.#loop.wake()
  }

  /** A side file without its file would be taken for that of a later file of the name. */
  async #removeOrphans(orphans: readonly RawName[]): Promise<void> {
    const { feed, dropDir } = this.#place
    const { log } = this.#options
    for (const raw of orphans) {
      const removed = await removeIfPresent(entryPath(dropDir, raw)).catch((error: unknown) => error)
      const text = 'a checksum or count lies in the drop folder for an hour without its file'
      if (removed === undefined) log.warn({ feed, file: displayName(raw) }, `${text}: removed`)
      else log.warn({ feed, file: displayName(raw), err: removed }, `${text}, and cannot be removed`)
    }
  }

  #restMs(): number {
    const untilScan = this.#scanAtMs - this.#options.clock.monotonic()
    const untilDue = this.#isBlocked ? undefined : this.#folder.nextDueMs()
    const untilLook = this.#roomBytes === undefined ? untilScan : Math.min(untilScan, retryAfterMs)
    return Math.max(0, Math.ceil(Math.min(untilLook, untilDue ?? Number.POSITIVE_INFINITY)))
  }

  async #reportFailure(error: unknown): Promise<void> {
    this.#isBlocked = true
    this.#roomBytes = isFull(error) ? await this.#readRoom() : undefined
    const { notices } = this.#options
    const { feed, dropDir } = this.#place
    if (isFull(error)) notices.raise('disk', feed, describeError(error))
    else notices.raise(`drop:${feed}`, '', describeFolderError(dropDir, error))
  }

  #tellRefused(): void {
    const { feed, dropDir } = this.#place
    const [first] = this.#refused
    const others = this.#refused.size > 1 ? ` (and ${this.#refused.size - 1} more)` : ''
    const error = first && fileAccessError(dropDir, displayName(first[0]) + others, first[1])
    this.#options.notices.show(`unreadable:${feed}`, '', error && describeError(error))
  }

  #tellLeftAlone(leftAlone: LeftAlone): void {
    const { feed, dropDir } = this.#place
    this.#options.notices.show(`ignored:${feed}`, '', describeLeftAlone(dropDir, leftAlone))
  }
}
