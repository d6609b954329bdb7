import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SideKind } from '../config/model.ts'
import type { CatalogName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { makeFolder, removeIfPresent } from '../lib/durable.ts'
import { systemErrorCode } from '../lib/errors.ts'
import { syncFolder } from '../lib/system.ts'
import type { Acceptor } from './acceptor.ts'
import { type Candidate, type Claimed, claimCandidate, type DropPlace } from './claim-candidate.ts'
import { putBack } from './claim-file.ts'
import { type ClaimParts, claimFileName } from './claim-name.ts'
import { cleanName, displayName, entryPath, type RawName } from './entry-name.ts'
import { directCalls, type FileCalls, pooledCalls } from './file-calls.ts'
import { mapPool } from './growth.ts'
import { hiddenDirOf } from './layout.ts'
import type { AcceptLine } from './model.ts'
import { removeSides } from './read-sides.ts'
import { fullError, isFull, spareBytes } from './space.ts'

export interface BatchResult {
  accepted: AcceptLine[]
  /** Originals of accepted files that had to be copied; to be removed. */
  copied: CopiedFile[]
  /** No longer there, or not as they were seen: look again. */
  changed: RawName[]
  /** Stay where they are until something is done about them. */
  refused: { raw: RawName; error: unknown }[]
  /** Stay where they are until their side file is there. */
  waiting: { raw: RawName; for: SideKind }[]
  /** So many of the candidates were looked at; the others are for the next batch. */
  considered: number
  /** The disk is full: the others stay where they are. */
  isFull: boolean
  /** To be free on it before the first of the others is taken. */
  neededBytes: number
}

/** A claimed file whose original stands in a hidden folder after its copy was accepted. */
export interface CopiedFile {
  accept: AcceptLine
  path: string
  keepMs: number
}

/** A batch that has to be copied ends at so many bytes: small files do not wait for their line behind large ones. */
const copiedBytesMax = 256 * 1024 * 1024

/**
 * Takes files out of drop folders. Each step leaves a state that recovery completes: in the drop folder → claimed
 * (renamed into the archive, or into a hidden folder and copied from there) → line in the manifest. What fails between
 * claim and line is put back.
 */
export class DropAcceptor {
  readonly #acceptor: Acceptor
  readonly #catalog: CatalogName
  readonly #clock: Clock
  /** Whether a drop folder is on another file system than the archive. */
  readonly #crossing = new Map<string, boolean>()

  constructor({ acceptor, catalog, clock }: { acceptor: Acceptor; catalog: CatalogName; clock: Clock }) {
    this.#acceptor = acceptor
    this.#catalog = catalog
    this.#clock = clock
  }

  get archiveDir(): string {
    return this.#acceptor.archiveDir
  }

  /** Bytes that may be copied into the archive; below 0: no file is accepted. */
  room(): Promise<number> {
    return this.#acceptor.room()
  }

  hiddenDirOf({ dropDir }: DropPlace): string {
    return hiddenDirOf(dropDir, this.#catalog)
  }

  /** By which so many of its files are looked at and taken. */
  async callsFor(dropDir: string, files: number): Promise<FileCalls> {
    return files === 1 && !(await this.#isCrossing(dropDir)) ? directCalls : pooledCalls
  }

  /** Files of one drop folder, in the order in which they are to be accepted. Throws SourceErrors and system errors. */
  async accept(place: DropPlace, candidates: readonly Candidate[]): Promise<BatchResult> {
    const isCrossing = await this.#isCrossing(place.dropDir)
    const fitting = await this.#fitting(candidates, isCrossing)
    const planned = candidates.slice(0, fitting.considered).map((candidate) => ({
      candidate,
      parts: this.#partsOf(place, candidate),
    }))
    const claims = planned.map(({ parts }) => parts.claim)
    const claimed: Claimed[] = []
    try {
      return await this.#acceptor.whileInFlight(claims, async () => {
        try {
          // A sole file, which may be urgent, is synced together with the folders.
          const isSole = planned.length === 1 && !isCrossing
          const how = { place, claimed, isCrossing, isSole }
          const claiming = await this.#claimAll({ ...how, planned })
          return { ...claiming, ...fitting, ...(await this.#line(how)) }
        } catch (error) {
          // A process that took over while this one was suspended may have given these claims their lines already.
          const foreign = await this.#acceptor.manifest.readForeign()
          const unlined = claimed.filter(({ parts }) => !foreign?.fileOf(parts.claim))
          await this.#putAllBack(place, unlined)
          throw error
        }
      })
    } catch (error) {
      // Usually all was put back; recovery finds what was not.
      this.#acceptor.leaveClaims(this.archiveDir)
      if (isCrossing) this.#acceptor.leaveClaims(this.hiddenDirOf(place))
      if (isFull(error)) throw fullError(this.archiveDir, { cause: error })
      if (systemErrorCode(error) !== 'EXDEV' || isCrossing) throw error
      // One device number, yet no rename: a bind mount. Known from now on.
      this.#crossing.set(place.dropDir, true)
      return this.accept(place, candidates)
    }
  }

  #partsOf(place: DropPlace, { raw, mode, asOfMs }: Candidate): ClaimParts {
    const name = cleanName(displayName(raw))
    const claim = this.#acceptor.claimIds.next()
    return { claim, feed: place.feed, mode, asOfMs, name }
  }

  async #isCrossing(dropDir: string): Promise<boolean> {
    const known = this.#crossing.get(dropDir)
    if (known !== undefined) return known
    const isCrossing = (await stat(dropDir)).dev !== (await stat(this.archiveDir)).dev
    this.#crossing.set(dropDir, isCrossing)
    return isCrossing
  }

  /** Before anything is claimed: a file that does not fit stays, and so do those after it, which keeps their order. */
  async #fitting(candidates: readonly Candidate[], isCrossing: boolean) {
    const room = await this.#acceptor.room(candidates.length === 1 && !isCrossing ? directCalls : pooledCalls)
    let bytes = 0
    let considered = 0
    for (const { size } of candidates) {
      if (isCrossing) bytes += size
      if (bytes > room || room < 0 || (considered > 0 && bytes > copiedBytesMax)) break
      considered++
    }
    return {
      considered,
      isFull: considered < candidates.length && (room < 0 || bytes > room),
      neededBytes: spareBytes + (isCrossing ? (candidates[considered]?.size ?? 0) : 0),
    }
  }

  /** Adds to `claimed` as it goes, so that whatever fails can be undone. */
  async #claimAll({ place, planned, claimed, isCrossing, isSole }: ClaimingAll) {
    const folder = isCrossing ? this.hiddenDirOf(place) : this.archiveDir
    if (isCrossing) await makeFolder(folder)
    const now = this.#clock.now()
    const alongside = isSole ? () => this.#syncFolders(place, isCrossing) : undefined
    const calls = isSole ? directCalls : pooledCalls
    const changed: RawName[] = []
    const refused: BatchResult['refused'] = []
    const waiting: BatchResult['waiting'] = []
    await mapPool(planned, 8, async ({ candidate, parts }) => {
      const { raw } = candidate
      const result = await claimCandidate({ place, candidate, parts, folder, now, alongside, calls })
      if (result.kind === 'claimed') claimed.push(result.claimed)
      else if (result.kind === 'refused') refused.push({ raw, error: result.error })
      else if (result.kind === 'waiting') waiting.push({ raw, for: result.for })
      else changed.push(raw)
    })
    claimed.sort((a, b) => (a.parts.claim < b.parts.claim ? -1 : 1))
    return { changed, refused, waiting }
  }

  async #line({ place, claimed, isCrossing, isSole }: ClaimedAll) {
    if (claimed.length === 0) return { accepted: [], copied: [] }
    const acceptor = this.#acceptor
    const bytesOf = async ({ path, bytes, parts }: Claimed) =>
      isCrossing ? await acceptor.copyIntoArchive(path, claimFileName(parts)) : bytes
    const sizes = await mapPool(claimed, 2, bytesOf)
    if (!isSole) await this.#syncFolders(place, isCrossing)
    const lines = claimed.map(({ parts }, position) => acceptor.lineOf(parts, sizes[position] ?? 0))
    const accepted = await acceptor.append(lines)
    // The lines stand: a side file that cannot be removed is one that nothing belongs to, and goes later.
    await removeSides(claimed.flatMap(({ sides }) => sides)).catch(() => undefined)
    const paths = new Map(claimed.map(({ parts, path }) => [parts.claim, path]))
    const copied = accepted.map((accept) => {
      return { accept, path: paths.get(accept.claim) ?? '', keepMs: place.keepCopiedMs }
    })
    return { accepted, copied: isCrossing ? copied : [] }
  }

  async #syncFolders(place: DropPlace, isCrossing: boolean): Promise<void> {
    const folders = [this.archiveDir, place.dropDir]
    if (isCrossing) folders.push(this.hiddenDirOf(place))
    await Promise.all(folders.map(syncFolder))
  }

  async #putAllBack(place: DropPlace, claimed: readonly Claimed[]): Promise<void> {
    for (const { path, parts, raw } of claimed) {
      // The copy goes first: a copy without a line would be accepted by recovery.
      const copy = join(this.archiveDir, claimFileName(parts))
      if (copy !== path) await removeIfPresent(copy).catch(() => undefined)
      await putBack(path, entryPath(place.dropDir, raw))
    }
  }
}

interface ClaimedAll {
  place: DropPlace
  claimed: Claimed[]
  isCrossing: boolean
  isSole: boolean
}

interface ClaimingAll extends ClaimedAll {
  planned: readonly { candidate: Candidate; parts: ClaimParts }[]
}
