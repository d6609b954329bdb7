import type { Clock } from '../lib/clock.ts'
import { isDamaged } from '../lib/database-failure.ts'
import { describeError, isOperatingFailure } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Importer } from './importer.ts'
import type { UnexpectedFailures } from './unexpected-failures.ts'

const retryAfterMs = 500
const retryAfterMaxMs = 5_000
const wentWellMs = 10_000

export interface ImportRunnerOptions {
  open: (signal: AbortSignal) => Promise<Importer>
  unexpectedFailures: UnexpectedFailures
  clock: Clock
  log: Log
  /** Trouble that keeps imports from going on; undefined: it is over. */
  onNotice: (text: string | undefined) => void
  /** A bug, or a damaged database: the process ends. */
  onFatal: (error: unknown) => void
}

/**
 * Keeps the imports of one kind of feeds going: opens an importer, runs it until something fails, and begins again.
 *
 * opening → importing → (failure) → waiting → opening … → stopped. A disk that is full is waited out, a damaged database
 * ends the process; unfinished files start again from their first record. They do so, too, when the import of one file
 * threw what nobody expected; the second time that file is refused.
 */
export class ImportRunner implements AsyncDisposable {
  readonly #options: ImportRunnerOptions
  readonly #stop = new AbortController()
  #importer: Importer | undefined
  #running: Promise<void> | undefined

  constructor(options: ImportRunnerOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run().catch((error: unknown) => this.#options.onFatal(error))
  }

  wake(): void {
    this.#importer?.wake()
  }

  /** See `ImportTurns`. */
  makeWay(): void {
    this.#importer?.makeWay()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    const { unexpectedFailures, clock, log, onNotice } = this.#options
    let delayMs = retryAfterMs
    while (!signal.aborted) {
      let readyAt = Number.POSITIVE_INFINITY
      try {
        await this.#importUntilFailure(() => {
          readyAt = clock.monotonic()
          onNotice(undefined)
        })
      } catch (error) {
        if (signal.aborted) return
        if (isDamaged(error)) throw error
        if (isOperatingFailure(error)) {
          log.warn({ err: error }, 'imports pause and begin again')
          onNotice(`imports pause: ${describeError(error)}`)
        } else if (unexpectedFailures.noteThrown(error)) {
          log.error({ err: error }, 'an import failed unexpectedly; imports begin again')
        } else throw error
        // What fails soon after each beginning (a report that cannot be written) is tried ever more seldom.
        if (clock.monotonic() - readyAt > wentWellMs) delayMs = retryAfterMs
        await clock.sleep(delayMs, signal).catch(() => undefined)
        delayMs = Math.min(delayMs * 2, retryAfterMaxMs)
      }
    }
  }

  async #importUntilFailure(onReady: () => void): Promise<void> {
    const { signal } = this.#stop
    const importer = await this.#options.open(signal)
    this.#importer = importer
    onReady()
    try {
      await importer.run(signal)
    } finally {
      this.#importer = undefined
    }
  }
}
