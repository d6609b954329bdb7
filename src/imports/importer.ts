import type { FeedConfig } from '../config/model.ts'
import type { AcceptSequence } from '../lib/brand.ts'
import type { Watchdog, WatchedWork } from '../lib/watchdog.ts'
import type { AcceptLine, DecisionLine } from '../sources/model.ts'
import type { ImportContext, StepContext } from './context.ts'
import { passAgain } from './import-file.ts'
import { ImportTurns } from './import-turns.ts'
import { appliedStep, appliedUpTo, type ImportStep, stepsAfter } from './manifest-steps.ts'
import type { ImportReport } from './report.ts'

export interface ImporterOptions {
  context: Omit<ImportContext, 'signal'>
  /** Whose files are imported here, all of one kind. */
  feeds: readonly FeedConfig[]
  watchdog: Watchdog
  importFile: (context: StepContext, accept: AcceptLine) => Promise<ImportReport>
  /** Approve or discard; answers the step from which the feed then goes on (exclusive). */
  decideHeld: (context: StepContext, step: DecisionLine) => Promise<{ rewindTo: AcceptSequence } | undefined>
  /** Changes documents beside the files, until the context's signal ends it. */
  runAnnounced?: (context: ImportContext, work: WatchedWork) => Promise<void>
  onImported: (report: ImportReport, accept: AcceptLine) => void
  /** Carries out decisions about the catalog as a whole (pause, resume, resync, dead letters). */
  onCatalogDecision: (decision: DecisionLine, signal: AbortSignal) => Promise<void>
  /** Whatever was accepted and decided before this run began has been applied. */
  onCaughtUp: () => void
}

/**
 * Applies a catalog's accepted files and decisions. Steps of one feed run strictly in accept order; the feeds run side
 * by side, chunk by chunk through the one mirror, so a small file never waits behind a huge one.
 *
 * `run` goes on until its signal ends it or something fails (a full disk, say); whoever runs it runs it again: every
 * unfinished step then starts from its beginning.
 */
export class Importer {
  readonly #options: ImporterOptions
  readonly #turns: ImportTurns
  readonly #wakers = new Set<() => void>()

  constructor(options: ImporterOptions) {
    this.#options = options
    this.#turns = new ImportTurns(options.context.clock)
  }

  wake(): void {
    for (const wake of this.#wakers) wake()
  }

  makeWay(): void {
    this.#turns.makeWay()
  }

  async run(signal: AbortSignal): Promise<void> {
    const failure = new AbortController()
    const context = { ...this.#options.context, signal: AbortSignal.any([signal, failure.signal]) }
    const scopes: (FeedConfig | '*')[] = ['*', ...this.#options.feeds]
    let behind = scopes.length
    const onCaughtUp = () => {
      behind -= 1
      if (behind === 0) this.#options.onCaughtUp()
    }
    const failing = (run: Promise<void>) =>
      run.catch((error: unknown) => {
        failure.abort(error)
        throw error
      })
    const runs = scopes.map((scope) => failing(this.#runScope(context, scope, onCaughtUp)))
    runs.push(failing(this.#runAnnounced(context)))
    const results = await Promise.allSettled(runs)
    const failed = results.find((result) => result.status === 'rejected')
    if (failed && !signal.aborted) throw failure.signal.reason
  }

  async #runAnnounced(context: ImportContext): Promise<void> {
    const { watchdog, runAnnounced } = this.#options
    using work = watchdog.watch(`announced changes of ${context.catalog.name}`)
    await runAnnounced?.(context, work)
  }

  /** One feed's steps, or the decisions about the catalog (`*`), one after another. */
  async #runScope(context: ImportContext, scope: FeedConfig | '*', onCaughtUp: () => void): Promise<void> {
    const name = scope === '*' ? '*' : scope.name
    using work = this.#options.watchdog.watch(`importing ${context.catalog.name} ${name}`)
    // What is accepted later is no part of the backlog, however steadily it comes.
    let backlog: AcceptSequence | undefined = context.manifest.nextSequence
    const feedContext = scope === '*' ? undefined : { ...context, feed: scope, work, turns: this.#turns }
    const { signal, book, manifest } = context
    const cursor = { after: appliedUpTo(book, manifest, name) }
    const wakeUp = new WakeUp(signal)
    this.#wakers.add(wakeUp.wake)
    try {
      while (!signal.aborted) {
        // Lines of others are passed for good, so that an idle feed does not read them again.
        const [step] = stepsAfter({ book, manifest, scope: name, ...cursor }, (sequence) => {
          cursor.after = sequence
        })
        if (backlog !== undefined && (step === undefined || step.sequence >= backlog)) {
          backlog = undefined
          onCaughtUp()
        }
        if (!step) {
          work.rest()
          await wakeUp.wait()
          continue
        }
        work.advance()
        const next = feedContext
          ? await this.#runFeedStep(feedContext, step)
          : await this.#runCatalogStep(context, step as DecisionLine)
        if (next) cursor.after = next.rewindTo
      }
    } finally {
      this.#wakers.delete(wakeUp.wake)
    }
  }

  async #runFeedStep(context: StepContext, step: ImportStep): ReturnType<ImporterOptions['decideHeld']> {
    const { onImported, importFile, decideHeld } = this.#options
    if (step.kind === 'decision') return decideHeld(context, step)
    const { log } = context
    const again = await passAgain(context, step)
    if (again.isPassed) {
      if (again.report) onImported(again.report, step)
      return undefined
    }
    log.info({ feed: step.feed, file: step.name, sequence: step.sequence, bytes: step.bytes }, 'importing')
    const { unexpectedFailures, signal } = context
    onImported(await unexpectedFailures.run(step, signal, () => importFile(context, step)), step)
    return undefined
  }

  async #runCatalogStep({ book, signal }: ImportContext, step: DecisionLine): Promise<undefined> {
    await this.#options.onCatalogDecision(step, signal)
    await book.update({ applied: appliedStep('*', step) })
  }
}

/** Sleeps until woken; a wake-up that comes while nobody sleeps is not lost. */
class WakeUp {
  #woken = false
  #resolve: (() => void) | undefined

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.wake(), { once: true })
  }

  readonly wake = (): void => {
    this.#woken = true
    this.#resolve?.()
  }

  async wait(): Promise<void> {
    if (!this.#woken) await new Promise<void>((resolve) => (this.#resolve = resolve))
    this.#woken = false
    this.#resolve = undefined
  }
}
