import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { ConsentIntake } from '../consents/model.ts'
import type { Clock } from '../lib/clock.ts'
import { describeError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Watchdog } from '../lib/watchdog.ts'
import type { Mirror } from '../mirror/model.ts'
import type { Archive } from '../sources/archive.ts'
import { isOperatingFailure } from '../sources/folder-access.ts'
import type { Manifest } from '../sources/manifest.ts'
import type { AcceptLine, DecisionLine } from '../sources/model.ts'
import { Importer } from './importer.ts'
import { prepareKeyIndexes } from './key-indexes.ts'
import { planRulesOf } from './plan-chunk.ts'
import type { ImportReport } from './report.ts'
import type { UnexpectedFailures } from './unexpected-failures.ts'

const retryAfterMs = 500
const retryAfterMaxMs = 5_000
const wentWellMs = 10_000

/** What imports write to, until something fails. */
export interface ImportStore extends AsyncDisposable {
  mirror: Mirror
  /** Aborted when nothing more can be written; the reason says why. */
  lost?: AbortSignal
  /** Everything that was accepted before it was opened is applied. */
  onCaughtUp?: () => void
}

export interface ImportRunnerOptions {
  catalog: CatalogConfig
  /** All of one kind. */
  feeds: readonly FeedConfig[]
  /** For feeds of consents. */
  consents: ConsentIntake | undefined
  openStore: (signal: AbortSignal) => Promise<ImportStore>
  /** A failure as an operating one that says what to do; bugs come back as they are. */
  explain: (error: unknown) => unknown
  manifest: Manifest
  archive: Archive
  reportsDir: string
  unexpectedFailures: UnexpectedFailures
  clock: Clock
  log: Log
  watchdog: Watchdog
  onImported: (report: ImportReport, accept: AcceptLine) => void
  onCatalogDecision: (decision: DecisionLine, signal: AbortSignal) => Promise<void>
  /** Trouble that keeps imports from going on; undefined: it is over. */
  onNotice: (text: string | undefined) => void
  /** A bug: the process ends and its supervisor starts it again. */
  onFatal: (error: unknown) => void
}

/**
 * Keeps a catalog's imports going: runs the importer until something fails, and begins again.
 *
 * importing → (failure) → waiting → importing … → stopped. A disk that is full is waited out; unfinished files start
 * again from their first record. They do so, too, when the import of one file threw what nobody expected; the second
 * time that file is refused.
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
    const { catalog, feeds, consents, openStore, watchdog, onImported, onCatalogDecision } = this.#options
    const { manifest, archive, reportsDir, unexpectedFailures, clock, log } = this.#options
    const { signal } = this.#stop
    await using store = await openStore(signal)
    const { mirror, lost } = store
    const rules = planRulesOf(consents ? { feeds: new Map(), urgent: [] } : catalog)
    const base = { catalog, rules, mirror, consents, manifest, archive, reportsDir, unexpectedFailures }
    const context = { ...base, clock, log }
    await prepareKeyIndexes({ ...context, signal })
    this.#importer = new Importer({
      ...{ context, feeds, watchdog, onImported, onCatalogDecision },
      onCaughtUp: () => store.onCaughtUp?.(),
    })
    onReady()
    try {
      await this.#importer.run(lost ? AbortSignal.any([signal, lost]) : signal)
    } finally {
      this.#importer = undefined
    }
    lost?.throwIfAborted()
  }
}
