import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'
import { removeIfPresent } from '../lib/durable.ts'
import { ifPresent } from '../lib/errors.ts'
import type { Acceptor } from './acceptor.ts'
import { type ClaimParts, claimFileName, partsOf } from './claim-name.ts'
import { directCalls, pooledCalls } from './file-calls.ts'
import type { AcceptLine, ClaimId } from './model.ts'

interface Watched {
  accept: AcceptLine
  path: string
  /** Of a copied file, when its original may go. Undefined: the file stands in the archive. */
  keepUntilMs: number | undefined
  size: number
  mtimeMs: number
  sinceMs: number
  /** Looked at less and less often while nothing happens. */
  lookAtMs: number
  lookEveryMs: number
}

/** More are not watched: what has grown shows when the file is archived, or at the next start. */
const watchedMax = 2_000
const lookEveryMsMin = 1_000
const lookEveryMsMax = 30_000
/** Files of the archive that are looked at while nothing else runs. */
const looksPerTurn = 64

/**
 * A rename does not stop a writer that has the file open. A file whose size is no longer what was accepted, and has
 * settled again, is copied whole and accepted once more, as a file of its own (`grownFrom`). Files are watched until
 * they are archived; of a copied file, the original is watched for one settle time and then removed.
 */
export class GrowthWatch {
  readonly #acceptor: Acceptor
  readonly #clock: Clock
  readonly #quietMs: number
  readonly #watched = new Map<ClaimId, Watched>()

  constructor({ acceptor, clock, quietMs }: { acceptor: Acceptor; clock: Clock; quietMs: number }) {
    this.#acceptor = acceptor
    this.#clock = clock
    this.#quietMs = quietMs
  }

  /** A file that stands in the archive. */
  watch(accept: AcceptLine): void {
    if (this.#watched.size >= watchedMax || this.#watched.has(accept.claim)) return
    const fileName = claimFileName(partsOf(accept))
    this.#add(accept, join(this.#acceptor.archiveDir, fileName), undefined)
  }

  /** The original of a copied file, which is removed when it has not grown for `keepMs`. */
  watchCopied({ accept, path, keepMs }: { accept: AcceptLine; path: string; keepMs: number }): void {
    if (this.#watched.get(accept.claim)?.path === path) return
    this.#add(accept, path, this.#clock.monotonic() + keepMs)
  }

  /** Returns what was accepted again. Throws when the disk is full; nothing is lost then. */
  async check(): Promise<AcceptLine[]> {
    const now = this.#clock.monotonic()
    const due = [...this.#watched.values()].filter(({ lookAtMs }) => lookAtMs <= now)
    let looked = 0
    const accepted = await mapPool(due, 4, async (file) => {
      if (++looked % looksPerTurn === 0) await nextTurn()
      return await this.#checkOne(file)
    })
    return accepted.flat()
  }

  #add(accept: AcceptLine, path: string, keepUntilMs: number | undefined): void {
    const sinceMs = this.#clock.monotonic()
    const seen = { size: accept.bytes, mtimeMs: 0, sinceMs }
    this.#watched.set(accept.claim, {
      accept,
      path,
      keepUntilMs,
      ...seen,
      lookAtMs: 0,
      lookEveryMs: lookEveryMsMin,
    })
  }

  async #checkOne(file: Watched): Promise<AcceptLine[]> {
    // The state folder stands on a quick disk: a look there takes less than asking another thread for it.
    const calls = file.keepUntilMs === undefined ? directCalls : pooledCalls
    const stats = await ifPresent(calls.lstat(file.path))
    const { manifest } = this.#acceptor
    if (!stats) {
      this.#watched.delete(file.accept.claim)
      return []
    }
    if (stats.size !== manifest.acceptedBytes(file.accept)) return this.#hasGrown(file, stats)
    const isDone =
      file.keepUntilMs === undefined
        ? manifest.archived(file.accept.claim) !== undefined
        : this.#clock.monotonic() >= file.keepUntilMs
    if (isDone) {
      await removeIfPresent(file.path)
      this.#watched.delete(file.accept.claim)
    } else if (file.keepUntilMs === undefined) {
      file.lookAtMs = this.#clock.monotonic() + file.lookEveryMs
      file.lookEveryMs = Math.min(file.lookEveryMs * 2, lookEveryMsMax)
    }
    return []
  }

  async #hasGrown(file: Watched, stats: Stats): Promise<AcceptLine[]> {
    const now = this.#clock.monotonic()
    file.lookEveryMs = lookEveryMsMin
    if (stats.size !== file.size || stats.mtimeMs !== file.mtimeMs) {
      Object.assign(file, { size: stats.size, mtimeMs: stats.mtimeMs, sinceMs: now })
      return []
    }
    return now - file.sinceMs < this.#quietMs ? [] : this.#acceptAgain(file)
  }

  async #acceptAgain(file: Watched): Promise<AcceptLine[]> {
    const { accept, path } = file
    const claim = this.#acceptor.claimIds.next()
    const grownFrom = accept.grownFrom ?? accept.claim
    // A push that is accepted once more is no second push. What side files said holds for the whole file.
    const parts: ClaimParts = { ...partsOf(accept), claim, grownFrom, pushKey: undefined }
    const accepted = await this.#acceptor.acceptCopy(path, parts)
    if (file.keepUntilMs !== undefined) file.keepUntilMs = this.#clock.monotonic() + this.#quietMs
    return accepted
  }
}

/** Runs a step for each item, so many at a time; results in the order of the items. Ends all before it throws the first error. */
export async function mapPool<T, R>(
  items: readonly T[],
  atOnce: number,
  step: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  const errors: unknown[] = []
  const entries = items.entries()
  const work = async () => {
    for (const [position, item] of entries) {
      if (errors.length > 0) return
      try {
        results[position] = await step(item)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
  if (errors.length > 0) throw errors[0]
  return results
}
