import type { AcceptSequence } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { describeError, systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { type Archive, isLarge } from '../sources/archive.ts'
import type { Manifest } from '../sources/manifest.ts'
import type { AcceptLine } from '../sources/model.ts'

/** A file that was accepted a moment ago may still grow: it is compressed when it has been quiet for so long. */
const quietMs = 60_000
const retryAfterMs = 30_000

interface QueueOptions {
  archive: Archive
  manifest: Manifest
  clock: Clock
  log: Log
}

/**
 * Hashes and compresses imported files one at a time, long after they were imported: nothing waits for it. What was
 * left when the process ended is found again in the manifest.
 */
export class ArchiveQueue implements AsyncDisposable {
  readonly #options: QueueOptions
  readonly #stop = new AbortController()
  /** Numbers only: there may be hundreds of thousands of small files. */
  readonly #waiting: AcceptSequence[] = []
  #wake: () => void = () => undefined
  #running: Promise<void> | undefined
  /** Copies of large files that were refused: somebody may wait for them. */
  #copying: Promise<void> = Promise.resolve()
  /** Up to this file another process may have left copies undone. */
  #left = 0

  constructor(options: QueueOptions) {
    this.#options = options
  }

  start(): void {
    for (const sequence of this.#options.manifest.unarchived()) this.#waiting.push(sequence)
    this.#left = this.#waiting.at(-1) ?? 0
    this.#running = this.#run()
  }

  add(accept: AcceptLine): void {
    this.#copyRefused(accept)
    this.#waiting.push(accept.sequence)
    this.#wake()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await Promise.all([this.#running, this.#copying])
  }

  #copyRefused(accept: AcceptLine): void {
    const { archive, manifest, log } = this.#options
    if (!isLarge(accept) || manifest.outcome(accept.sequence)?.outcome !== 'refused') return
    const { signal } = this.#stop
    this.#copying = this.#copying
      .then(() => archive.copyRefused(accept, signal))
      .catch((error: unknown) => {
        if (signal.aborted) return
        log.warn(
          { import: accept.sequence, reason: describeError(error) },
          'a refused file could not be copied; it is in the archive',
        )
      })
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stop
    while (!signal.aborted) {
      const sequence = this.#waiting.shift()
      if (sequence === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      try {
        await this.#archive(sequence)
      } catch (error) {
        if (signal.aborted) return
        if (systemErrorCode(error) === 'ENOENT') {
          log.warn({ import: sequence, reason: describeError(error) }, 'a file is gone from the archive')
          continue
        }
        // To the end: one file that cannot be archived keeps none of the others waiting.
        this.#waiting.push(sequence)
        log.warn(
          { import: sequence, reason: describeError(error) },
          'a file could not be archived; trying again later',
        )
        await clock.sleep(retryAfterMs, signal).catch(() => undefined)
      }
    }
  }

  async #archive(sequence: AcceptSequence): Promise<void> {
    const { archive, manifest, clock } = this.#options
    const { signal } = this.#stop
    const accept = manifest.file(sequence)
    if (!accept) return
    if (sequence <= this.#left) this.#copyRefused(accept)
    const quietAt = Date.parse(accept.acceptedAt) + quietMs
    await clock.sleep(Math.min(quietMs, Math.max(0, quietAt - clock.now())), signal)
    await archive.archiveFile(accept, signal)
  }
}
