import { readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { removeIfPresent } from '../lib/durable.ts'
import { describeError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import { layoutOf } from '../sources/layout.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { AcceptLine } from '../sources/model.ts'
import { type ImportBook, parseHeld } from './context.ts'
import { readReport, reportPath } from './report.ts'

const everyMs = 3_600_000
/** A start is busy with other things. */
const firstMs = 60_000
const forgetEvery = 24
/** A mirror that was upgraded or restored a moment ago may have to be made once more. */
const quietMs = 24 * 3_600_000

interface ExpiryOptions {
  /** `state/<catalog>`. */
  dir: string
  keepMs: number
  manifest: ManifestView
  mirror: Pick<MirrorReader, 'madeAtMs' | 'held'>
  /** Of each kind of feeds. */
  books: readonly Pick<ImportBook, 'isApplied'>[]
  clock: Clock
  log: Log
}

interface RetentionOptions extends ExpiryOptions {
  /** `forgetProducts`, where products are imported. */
  forget: (nowMs: number) => Promise<void>
}

/**
 * Removes what is no longer needed: accepted files after `archive.keep`, and products that no feed names any more.
 *
 * Waiting → removing, once an hour → waiting … → stopped. What fails is tried again an hour later.
 */
export class Retention implements AsyncDisposable {
  readonly #options: RetentionOptions
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { forget, clock, log } = this.#options
    const { signal } = this.#stop
    for (let pass = 0; !signal.aborted; pass += 1) {
      await clock.sleep(pass === 0 ? firstMs : everyMs, signal).catch(() => undefined)
      try {
        await removeExpired(this.#options, signal)
        if (pass % forgetEvery === 1) await forget(clock.now())
      } catch (error) {
        if (signal.aborted) return
        log.warn({ reason: describeError(error) }, 'old files could not be removed; trying again in an hour')
      }
    }
  }
}

/** Removes archived files that were accepted longer ago than `archive.keep`, with their reports. Answers how many. */
export async function removeExpired(options: ExpiryOptions, signal?: AbortSignal): Promise<number> {
  const { dir, keepMs, mirror, clock, log } = options
  const before = clock.now() - keepMs
  if (mirror.madeAtMs() > clock.now() - quietMs) return 0
  const { archiveDir } = layoutOf(dir)
  let removed = 0
  for (const day of (await readdir(archiveDir)).sort()) {
    if (!/^\d{4}-\d\d-\d\d$/.test(day)) continue
    if (Date.parse(day) > before) break
    const heldFrom = firstHeld(options)
    for (const name of await readdir(join(archiveDir, day))) {
      signal?.throwIfAborted()
      const accept = options.manifest.fileOf(name.split('~', 1)[0] ?? '')
      if (!accept || Date.parse(accept.acceptedAt) > before || isNeeded(accept, options, heldFrom)) continue
      await removeReport(join(dir, 'reports'), accept)
      await removeIfPresent(join(archiveDir, day, name))
      removed += 1
    }
    // Only where nothing is left.
    await rmdir(join(archiveDir, day)).catch(() => undefined)
  }
  if (removed > 0) log.info({ files: removed }, 'removed accepted files that are older than archive.keep')
  return removed
}

function isNeeded(
  { claim, feed, sequence }: AcceptLine,
  { books }: ExpiryOptions,
  heldFrom: ReadonlyMap<FeedName, AcceptSequence>,
): boolean {
  const held = heldFrom.get(feed)
  return !books.some((book) => book.isApplied(claim)) || (held !== undefined && sequence >= held)
}

/** An approved file is imported from the archive, and the later ones of its feed once more. */
function firstHeld({ mirror }: ExpiryOptions): Map<FeedName, AcceptSequence> {
  const first = new Map<FeedName, AcceptSequence>()
  for (const [feed, text] of mirror.held()) {
    const sequences = parseHeld(text).map(({ sequence }) => sequence)
    first.set(feed, Math.min(...sequences) as AcceptSequence)
  }
  return first
}

async function removeReport(reportsDir: string, accept: AcceptLine): Promise<void> {
  const path = reportPath(reportsDir, accept)
  const report = await readReport(path)
  if (report?.rejectsFile !== undefined) await removeIfPresent(report.rejectsFile)
  await removeIfPresent(path)
}
