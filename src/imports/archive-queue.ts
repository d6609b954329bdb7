import type { Clock } from '../lib/clock.ts'
import { describeError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Archive } from '../sources/archive.ts'
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
  readonly #waiting: AcceptLine[] = []
  #wake: () => void = () => undefined
  #running: Promise<void> | undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  start(): void {
    const { manifest } = this.#options
    for (const accept of manifest.files()) {
      const isDone = manifest.archived(accept.claim) !== undefined
      if (!isDone && manifest.outcome(accept.sequence)) this.#waiting.push(accept)
    }
    this.#running = this.#run()
  }

  add(accept: AcceptLine): void {
    this.#waiting.push(accept)
    this.#wake()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { archive, clock, log } = this.#options
    const { signal } = this.#stop
    while (!signal.aborted) {
      const accept = this.#waiting[0]
      if (!accept) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      try {
        const quietAt = Date.parse(accept.acceptedAt) + quietMs
        await clock.sleep(Math.min(quietMs, Math.max(0, quietAt - clock.now())), signal)
        await archive.archiveFile(accept, signal)
        this.#waiting.shift()
      } catch (error) {
        if (signal.aborted) return
        log.warn(
          { file: accept.name, reason: describeError(error) },
          'a file could not be archived; trying again later',
        )
        await clock.sleep(retryAfterMs, signal).catch(() => undefined)
      }
    }
  }
}
