import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FeedMode } from '../config/model.ts'
import type { CatalogName, FeedName } from '../lib/brand.ts'
import { systemErrorCode } from '../lib/errors.ts'
import type { Acceptor } from './acceptor.ts'
import { type ClaimResult, claimFile, putBack, type SeenFile } from './claim-file.ts'
import { type ClaimParts, claimFileName } from './claim-name.ts'
import { makeFolder, removeIfPresent, syncFolder } from './durable.ts'
import { cleanName, displayName, entryPath, type RawName } from './entry-name.ts'
import { hiddenDirOf } from './layout.ts'
import type { AcceptLine } from './model.ts'
import { mapPool } from './pool.ts'
import { fullError, isFull } from './space.ts'

/** A settled file of a drop folder. */
export interface Candidate extends SeenFile {
  raw: RawName
  mode: FeedMode
}

export interface DropPlace {
  feed: FeedName
  dropDir: string
  /** See `claimFile`. */
  takesChanged: boolean
  /** How long a copied file's original is kept to see whether it grows. */
  keepCopiedMs: number
}

export interface BatchResult {
  accepted: AcceptLine[]
  /** Originals of accepted files that had to be copied; to be removed. */
  copied: CopiedFile[]
  /** No longer there, or not as they were seen: look again. */
  changed: RawName[]
  /** Stay where they are until something is done about them. */
  refused: { raw: RawName; error: unknown }[]
  /** So many of the candidates were looked at; the others are for the next batch. */
  considered: number
  /** The disk is full: the others stay where they are. */
  isFull: boolean
}

/** A claimed file whose original stands in a hidden folder after its copy was accepted. */
export interface CopiedFile {
  accept: AcceptLine
  path: string
  keepMs: number
}

interface Claimed {
  parts: ClaimParts
  raw: RawName
  bytes: number
  /** Where the file is now: in the archive, or in the hidden folder when it has to be copied. */
  path: string
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
  /** Whether a drop folder is on another file system than the archive. */
  readonly #crossing = new Map<string, boolean>()

  constructor({ acceptor, catalog }: { acceptor: Acceptor; catalog: CatalogName }) {
    this.#acceptor = acceptor
    this.#catalog = catalog
  }

  get archiveDir(): string {
    return this.#acceptor.archiveDir
  }

  hiddenDirOf({ dropDir }: DropPlace): string {
    return hiddenDirOf(dropDir, this.#catalog)
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
          const claiming = await this.#claimAll({ place, planned, claimed, isCrossing })
          return { ...claiming, ...fitting, ...(await this.#line(place, claimed, isCrossing)) }
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
      if (isFull(error)) throw fullError(this.archiveDir, error)
      if (systemErrorCode(error) !== 'EXDEV' || isCrossing) throw error
      // One device number, yet no rename: a bind mount. Known from now on.
      this.#crossing.set(place.dropDir, true)
      return this.accept(place, candidates)
    }
  }

  #partsOf(place: DropPlace, { raw, mode }: Candidate): ClaimParts {
    const name = cleanName(displayName(raw))
    const claim = this.#acceptor.claimIds.next()
    return { claim, feed: place.feed, mode, resend: false, grownFrom: undefined, name }
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
    const room = await this.#acceptor.room()
    let bytes = 0
    let considered = 0
    for (const { size } of candidates) {
      if (isCrossing) bytes += size
      if (bytes > room || room < 0 || (considered > 0 && bytes > copiedBytesMax)) break
      considered++
    }
    return { considered, isFull: considered < candidates.length && (room < 0 || bytes > room) }
  }

  /** Adds to `claimed` as it goes, so that whatever fails can be undone. */
  async #claimAll({ place, planned, claimed, isCrossing }: ClaimingAll) {
    const folder = isCrossing ? this.hiddenDirOf(place) : this.archiveDir
    if (isCrossing) await makeFolder(folder)
    const changed: RawName[] = []
    const refused: BatchResult['refused'] = []
    await mapPool(planned, 8, async ({ candidate, parts }) => {
      const { raw } = candidate
      const path = join(folder, claimFileName(parts))
      const result = await claimOrRefuse(place, candidate, path)
      if (result.kind === 'claimed') claimed.push({ parts, raw, bytes: result.bytes, path })
      else if (result.kind === 'refused') refused.push({ raw, error: result.error })
      else changed.push(raw)
    })
    claimed.sort((a, b) => (a.parts.claim < b.parts.claim ? -1 : 1))
    return { changed, refused }
  }

  async #line(place: DropPlace, claimed: readonly Claimed[], isCrossing: boolean) {
    if (claimed.length === 0) return { accepted: [], copied: [] }
    const acceptor = this.#acceptor
    const bytesOf = async ({ path, bytes, parts }: Claimed) =>
      isCrossing ? await acceptor.copyIntoArchive(path, claimFileName(parts)) : bytes
    const sizes = await mapPool(claimed, 2, bytesOf)
    const folders = [this.archiveDir, place.dropDir]
    if (isCrossing) folders.push(this.hiddenDirOf(place))
    await Promise.all(folders.map(syncFolder))
    const lines = claimed.map(({ parts }, position) => acceptor.lineOf(parts, sizes[position] ?? 0))
    const accepted = await acceptor.append(lines)
    const paths = new Map(claimed.map(({ parts, path }) => [parts.claim, path]))
    const copied = accepted.map((accept) => {
      return { accept, path: paths.get(accept.claim) ?? '', keepMs: place.keepCopiedMs }
    })
    return { accepted, copied: isCrossing ? copied : [] }
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

interface ClaimingAll {
  place: DropPlace
  planned: readonly { candidate: Candidate; parts: ClaimParts }[]
  claimed: Claimed[]
  isCrossing: boolean
}

/** A file that we may not read or move concerns that file alone. */
async function claimOrRefuse(
  { dropDir, takesChanged }: DropPlace,
  seen: Candidate,
  to: string,
): Promise<ClaimResult | { kind: 'refused'; error: unknown }> {
  try {
    return await claimFile({ from: entryPath(dropDir, seen.raw), to, seen, takesChanged })
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'EACCES' || code === 'EPERM') return { kind: 'refused', error }
    throw error
  }
}
