import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { removeIfPresent, syncFile } from '../lib/durable.ts'
import { describeError, isOperatingFailure } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { syncFolder } from '../lib/system.ts'
import type { Acceptor } from './acceptor.ts'
import { type ClaimParts, claimFileName, parseClaimFileName } from './claim-name.ts'
import { describeFolderError } from './folder-access.ts'
import { lstatIfPresent, scanIfPresent } from './folder-scan.ts'
import type { GrowthWatch } from './growth.ts'
import { claimOfTemporary, isCompressName } from './layout.ts'
import { Loop } from './loop.ts'
import type { AcceptLine } from './model.ts'
import type { NoticeBoard } from './notices.ts'
import { isFull } from './space.ts'

/** What all that accept files of a catalog have in common. */
export interface AcceptingParts {
  acceptor: Acceptor
  growth: GrowthWatch
  clock: Clock
  notices: NoticeBoard
  log: Log
  rescanMs: number
  onAccepted: (accepted: AcceptLine[]) => void
  /** Settled files are about to be accepted. */
  onAccepting?: (() => void) | undefined
}

interface UpkeepOptions extends AcceptingParts {
  hiddenDirs: readonly string[]
}

const growthMs = 1000

/**
 * What accepting leaves to be done: claims without a line get one (at the start, and after a failure that could not be
 * undone), and files that grow are watched. What fails is tried again.
 */
export class Upkeep implements AsyncDisposable {
  readonly #options: UpkeepOptions
  readonly #loop: Loop
  #turn: Promise<unknown> = Promise.resolve()
  #recoverAtMs = 0

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#loop = new Loop(options.clock, () => this.#keepUp())
  }

  /** Completes what a crash cut off; then goes on in the background. */
  async start(): Promise<void> {
    const { acceptor, hiddenDirs } = this.#options
    for (const dir of [...hiddenDirs, acceptor.archiveDir]) acceptor.leaveClaims(dir)
    await this.#recoverAll()
    this.#loop.start()
  }

  /**
   * Gives claims that were left in the archive, and in a hidden folder, their lines. Call before accepting: a file that
   * was claimed earlier must not come after a newer one. Throws what stands in the way.
   */
  async completeClaims(hiddenDir?: string): Promise<void> {
    const { acceptor } = this.#options
    const hasLeft = (dir: string | undefined) => dir !== undefined && acceptor.hasLeftClaims(dir)
    if (!hasLeft(hiddenDir) && !hasLeft(acceptor.archiveDir)) return
    const recovered = this.#turn.then(() => this.#recover(hiddenDir))
    this.#turn = recovered.catch(() => undefined)
    await recovered
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]()
  }

  async #keepUp(): Promise<number> {
    const { growth, acceptor, clock, rescanMs } = this.#options
    await this.#try('growth', acceptor.archiveDir, async () => this.#tell(await growth.check()))
    if (clock.monotonic() >= this.#recoverAtMs) await this.#recoverAll()
    return Math.min(growthMs, rescanMs)
  }

  /** A drop folder that cannot be read does not hold up the others. */
  async #recoverAll(): Promise<void> {
    const { acceptor, hiddenDirs, clock, rescanMs } = this.#options
    for (const dir of hiddenDirs) {
      if (await this.#try('recovery', dir, () => this.completeClaims(dir))) continue
      this.#recoverAtMs = clock.monotonic() + rescanMs
    }
    await this.#try('recovery', acceptor.archiveDir, () => this.completeClaims())
  }

  async #recover(hiddenDir: string | undefined): Promise<void> {
    const { acceptor, growth, log } = this.#options
    const recovery = { acceptor, growth, log }
    const isHidden = hiddenDir !== undefined && acceptor.takeLeftClaims(hiddenDir)
    try {
      if (isHidden) await recoverHidden(recovery, hiddenDir)
      if (!acceptor.takeLeftClaims(acceptor.archiveDir) && !isHidden) return
      this.#tell(await recoverArchive(recovery))
      // The originals of copies that have their lines now.
      if (isHidden) await recoverHidden(recovery, hiddenDir)
    } catch (error) {
      if (isHidden) acceptor.leaveClaims(hiddenDir)
      acceptor.leaveClaims(acceptor.archiveDir)
      throw error
    }
  }

  /** False when it failed; then a notice says so until it succeeds. */
  async #try(key: 'recovery' | 'growth', dir: string, step: () => Promise<void>): Promise<boolean> {
    const { notices } = this.#options
    try {
      await step()
      notices.clear('disk', `${key} ${dir}`)
      notices.clear(key, dir)
      return true
    } catch (error) {
      if (!isOperatingFailure(error)) throw error
      if (isFull(error)) notices.raise('disk', `${key} ${dir}`, describeError(error))
      else notices.raise(key, dir, describeFolderError(dir, error))
      return false
    }
  }

  #tell(accepted: AcceptLine[]): void {
    if (accepted.length > 0) this.#options.onAccepted(accepted)
  }
}

type Recovery = Pick<AcceptingParts, 'acceptor' | 'growth' | 'log'>

interface Found {
  parts: ClaimParts
  path: string
}

const linesAtOnce = 1000

/**
 * Completes what a crash cut off in the archive: temporary files go, claimed files without a line get one, in the order
 * of their claims. Files in use are handed to the growth watch. Returns what was accepted. Safe to repeat and to run
 * beside accepting: claims in flight are left alone.
 */
async function recoverArchive({ acceptor, growth, log }: Recovery): Promise<AcceptLine[]> {
  const { archiveDir, manifest } = acceptor
  const unlined: Found[] = []
  for await (const { raw, kind } of scanIfPresent(archiveDir)) {
    if (kind === 'folder') continue
    if (isLeftBehind(raw, acceptor)) await removeIfPresent(join(archiveDir, raw))
    const found = foundIn(archiveDir, raw)
    if (!found || acceptor.isInFlight(found.parts.claim)) continue
    const accept = manifest.fileOf(found.parts.claim)
    if (accept) growth.watch(accept)
    else if (kind === 'file') unlined.push(found)
  }
  unlined.sort((a, b) => (a.parts.claim < b.parts.claim ? -1 : 1))
  const accepted: AcceptLine[] = []
  for (let from = 0; from < unlined.length; from += linesAtOnce) {
    accepted.push(...(await writeLines(acceptor, unlined.slice(from, from + linesAtOnce))))
  }
  for (const { claim, feed, name } of accepted)
    log.info({ claim, feed, file: name }, 'accepted a file claimed earlier')
  return accepted
}

/**
 * Completes what was claimed in a hidden folder and not yet copied; call before `recoverArchive`, which writes the
 * lines. Copies that are accepted already are watched and removed.
 */
async function recoverHidden({ acceptor, growth, log }: Recovery, hiddenDir: string): Promise<void> {
  for await (const { raw, kind } of scanIfPresent(hiddenDir)) {
    const found = foundIn(hiddenDir, raw)
    if (!found || kind !== 'file' || acceptor.isInFlight(found.parts.claim)) continue
    const { claim, feed, name } = found.parts
    const accept = acceptor.manifest.fileOf(claim)
    if (accept) {
      growth.watchCopied({ accept, path: found.path, keepMs: 0 })
      continue
    }
    const fileName = claimFileName(found.parts)
    // A copy under its final name is whole; when the original has grown since, the growth watch sees it.
    if (await lstatIfPresent(join(acceptor.archiveDir, fileName))) continue
    await acceptor.copyIntoArchive(found.path, fileName)
    log.info({ claim, feed, file: name }, 'copied a file claimed earlier')
  }
}

/** Archiving runs beside this: what it compresses into is its own, which it writes anew after a crash and removes. */
function isLeftBehind(fileName: string, acceptor: Acceptor): boolean {
  const claim = claimOfTemporary(fileName)
  if (claim === undefined || acceptor.isInFlight(claim)) return false
  return !isCompressName(fileName) || acceptor.manifest.fileOf(claim) === undefined
}

async function writeLines(acceptor: Acceptor, files: readonly Found[]): Promise<AcceptLine[]> {
  const lines = []
  for (const { parts, path } of files) {
    await syncFile(path)
    lines.push(acceptor.lineOf(parts, (await lstat(path)).size))
  }
  await syncFolder(acceptor.archiveDir)
  return acceptor.append(lines)
}

/** Names of claims are UTF-8; the raw form is one character a byte. */
function foundIn(dir: string, raw: string): Found | undefined {
  const fileName = Buffer.from(raw, 'latin1').toString('utf8')
  const parts = parseClaimFileName(fileName)
  return parts && { parts, path: join(dir, fileName) }
}
