import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { copyDurably, removeIfPresent, syncFile } from '../lib/durable.ts'
import { systemErrorCode } from '../lib/errors.ts'
import { syncFolder } from '../lib/system.ts'
import { ClaimIds, type ClaimParts, claimFileName } from './claim-name.ts'
import { pooledCalls } from './file-calls.ts'
import { copyName, layoutOf } from './layout.ts'
import type { Manifest } from './manifest.ts'
import type { NewLine } from './manifest-reading.ts'
import type { AcceptLine, ClaimId } from './model.ts'
import { freeBytes, fullError, isFull, spareBytes } from './space.ts'

interface AcceptorOptions {
  /** `state/<catalog>`. */
  dir: string
  manifest: Manifest
  clock: Clock
}

/**
 * Gives claimed files their lines. A file counts, and is used, only with its line; one that stands in the archive
 * without a line, and is not in flight, is left for `recoverArchive`.
 */
export class Acceptor {
  readonly archiveDir: string
  readonly manifest: Manifest
  readonly claimIds: ClaimIds
  readonly #stateDir: string
  readonly #clock: Clock
  readonly #inFlight = new Set<ClaimId>()
  /** Folders with claims without a line: the archive, hidden folders. */
  readonly #left = new Set<string>()

  constructor({ dir, manifest, clock }: AcceptorOptions) {
    this.manifest = manifest
    this.archiveDir = layoutOf(dir).archiveDir
    this.claimIds = new ClaimIds(clock)
    this.#stateDir = dir
    this.#clock = clock
  }

  /** Runs a step during which recovery leaves these claims alone. */
  async whileInFlight<T>(claims: readonly ClaimId[], step: () => Promise<T>): Promise<T> {
    for (const claim of claims) this.#inFlight.add(claim)
    try {
      return await step()
    } finally {
      for (const claim of claims) this.#inFlight.delete(claim)
    }
  }

  isInFlight(claim: ClaimId): boolean {
    return this.#inFlight.has(claim)
  }

  /** A claim could perhaps neither be given its line nor be undone: recovery has work in that folder. */
  leaveClaims(dir: string): void {
    this.#left.add(dir)
  }

  hasLeftClaims(dir: string): boolean {
    return this.#left.has(dir)
  }

  /** True once after `leaveClaims`. */
  takeLeftClaims(dir: string): boolean {
    return this.#left.delete(dir)
  }

  /** Files that carry their claim already (from the inbox). Safe to repeat: a claim is accepted once. */
  async acceptClaimed(files: readonly { path: string; parts: ClaimParts }[]): Promise<AcceptLine[]> {
    await this.requireSpace(0)
    const claims = files.map(({ parts }) => parts.claim)
    return this.whileInFlight(claims, () =>
      this.#orLeave(async () => {
        const lines: NewLine[] = []
        for (const { path, parts } of files) {
          if (this.manifest.fileOf(parts.claim)) continue
          const bytes = await this.#bring(path, claimFileName(parts))
          lines.push(this.lineOf(parts, bytes))
        }
        await syncFolder(this.archiveDir)
        const accepted = await this.append(lines)
        // Still there are those that had to be copied, before this or an earlier crash.
        for (const { path } of files) await removeIfPresent(path)
        return accepted
      }),
    )
  }

  /** Content that was written on after it was accepted, as a new file. */
  acceptCopy(path: string, parts: ClaimParts): Promise<AcceptLine[]> {
    return this.whileInFlight([parts.claim], () =>
      this.#orLeave(async () => {
        const line = this.lineOf(parts, await this.copyIntoArchive(path, claimFileName(parts)))
        await syncFolder(this.archiveDir)
        return this.append([line])
      }),
    )
  }

  /** The accept lines among what was written; lines that stood there already are not among them. */
  async append(lines: readonly NewLine[]): Promise<AcceptLine[]> {
    const written = await this.manifest.append(lines)
    return written.filter((line) => line.kind === 'accept')
  }

  lineOf(parts: ClaimParts, bytes: number): NewLine {
    const { claim, feed, mode, name, grownFrom, resend, pushKey, asOfMs, expect } = parts
    const acceptedAt = new Date(this.#clock.now()).toISOString()
    return {
      kind: 'accept',
      claim,
      feed,
      mode,
      name,
      bytes,
      asOf: asOfMs === undefined ? acceptedAt : new Date(asOfMs).toISOString(),
      acceptedAt,
      grownFrom,
      resend: resend ? true : undefined,
      pushKey,
      isDated: asOfMs === undefined ? undefined : true,
      expect,
    }
  }

  /** Throws when so many bytes cannot be copied into the archive with room to spare. */
  async requireSpace(bytes: number): Promise<void> {
    if ((await this.room()) < bytes) throw fullError(this.archiveDir, { neededBytes: bytes + spareBytes })
  }

  /** Bytes that may be copied into the archive; below 0: nothing may be accepted. */
  async room(calls = pooledCalls): Promise<number> {
    // The archive may be a mount of its own; then the manifest needs room, too.
    const [archive, state] = await Promise.all([
      freeBytes(this.archiveDir, calls),
      freeBytes(this.#stateDir, calls),
    ])
    return state < spareBytes ? -1 : archive - spareBytes
  }

  async copyIntoArchive(from: string, fileName: string): Promise<number> {
    await this.requireSpace((await stat(from)).size)
    return copyDurably(from, join(this.archiveDir, fileName), join(this.archiveDir, copyName(fileName)))
  }

  async #bring(path: string, fileName: string): Promise<number> {
    const target = join(this.archiveDir, fileName)
    try {
      await rename(path, target)
    } catch (error) {
      if (systemErrorCode(error) !== 'EXDEV') throw error
      return this.copyIntoArchive(path, fileName)
    }
    return syncFile(target)
  }

  async #orLeave<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      this.leaveClaims(this.archiveDir)
      throw isFull(error) ? fullError(this.archiveDir, { cause: error }) : error
    }
  }
}
