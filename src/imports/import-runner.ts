import type { Clock } from '../lib/clock.ts'
import { describeError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { isOperatingFailure } from '../sources/folder-access.ts'
import type { Importer } from './importer.ts'
import type { UnexpectedFailures } from './unexpected-failures.ts'

const retryAfterMs = 500
const retryAfterMaxMs = 5_000
const wentWellMs = 10_000

/** An importer over what it needs, which is closed with it. */
export interface OpenedImports extends AsyncDisposable {
  importer: Importer
  /** Another process took over: begin again, and wait for it. */
  lost?: AbortSignal
  /** What it needs has failed, for this reason. */
  broken?: AbortSignal
}

export interface ImportRunnerOptions {
  /** Waits for what an importer needs, and opens it. */
  open: (signal: AbortSignal) => Promise<OpenedImports>
  /** What is really wrong when something has failed. */
  explain: (error: unknown) => unknown
  unexpectedFailures: UnexpectedFailures
  clock: Clock
  log: Log
  /** Trouble that keeps imports from going on; undefined: it is over. */
  onNotice: (text: string | undefined) => void
  /** A bug: the process ends and its supervisor starts it again. */
  onFatal: (error: unknown) => void
}

/**
 * Keeps the imports of one kind of feeds going: opens an importer, runs it until something fails, and begins again.
 *
 * opening (waits for Redis, a lease) → importing → (failure) → waiting …  → stopped. Redis being away, a disk that is full
 * and another process that took over are waited out; unfinished files start again from their first record. They do so,
 * too, when the import of one file threw what nobody expected; the second time that file is refused.
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

  /** New lines stand in the manifest. */
  wake(): void {
    this.#importer?.wake()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    const { explain, unexpectedFailures, clock, log, onNotice } = this.#options
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
        const failure = explain(error)
        if (isOperatingFailure(failure)) {
          log.warn({ err: failure }, 'imports pause and begin again')
          onNotice(`imports pause: ${describeError(failure)}`)
        } else if (unexpectedFailures.noteThrown(error)) {
          log.error({ err: failure }, 'an import failed unexpectedly; imports begin again')
        } else throw failure
        // What fails soon after each beginning (a report that cannot be written) is tried ever more seldom.
        if (clock.monotonic() - readyAt > wentWellMs) delayMs = retryAfterMs
        await clock.sleep(delayMs, signal).catch(() => undefined)
        delayMs = Math.min(delayMs * 2, retryAfterMaxMs)
      }
    }
  }

  async #importUntilFailure(onReady: () => void): Promise<void> {
    const { signal } = this.#stop
    await using opened = await this.#options.open(signal)
    const { importer, lost, broken } = opened
    this.#importer = importer
    onReady()
    try {
      const ends = [signal, lost, broken].filter((each) => each !== undefined)
      await importer.run(AbortSignal.any(ends))
    } finally {
      this.#importer = undefined
    }
    broken?.throwIfAborted()
  }
}
