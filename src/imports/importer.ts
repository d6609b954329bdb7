import type { FeedConfig } from '../config/model.ts'
import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import type { Watchdog } from '../lib/watchdog.ts'
import type { Manifest } from '../sources/manifest.ts'
import type { AcceptLine, DecisionLine } from '../sources/model.ts'
import type { FeedContext, ImportContext } from './context.ts'
import { parseHeld } from './held.ts'
import { importFile, passRefused } from './import-file.ts'
import { ImportTurns } from './import-turns.ts'
import { applyRemovals } from './removals.ts'
import type { ImportReport } from './report.ts'
import { runAnnounced } from './run-announced.ts'
import { tallyNames } from './tally.ts'

/** What becomes of the catalog in accept order: a file to import, or a decision to carry out. */
export type ImportStep = AcceptLine | DecisionLine

interface ImporterOptions {
  context: Omit<ImportContext, 'signal'>
  /** Whose files are imported here, all of one kind. */
  feeds: readonly FeedConfig[]
  watchdog: Watchdog
  onImported: (report: ImportReport, accept: AcceptLine) => void
  /** Carries out decisions about the catalog as a whole (pause, resume, resync, dead letters). */
  onCatalogDecision: (decision: DecisionLine) => Promise<void>
  /** Whatever was accepted and decided before this run began has been applied. */
  onCaughtUp: () => void
}

/**
 * Applies a catalog's accepted files and decisions. Steps of one feed run strictly in accept order; the feeds run side
 * by side, chunk by chunk through the one writer, so a small file never waits behind a huge one.
 *
 * `run` goes on until its signal ends it or something fails (Redis went away, the writer was replaced); whoever runs
 * it opens a new writer and runs it again: every unfinished step then starts from its beginning.
 */
export class Importer {
  readonly #options: ImporterOptions
  readonly #turns: ImportTurns
  readonly #wakers = new Set<() => void>()

  constructor(options: ImporterOptions) {
    this.#options = options
    this.#turns = new ImportTurns(options.context.clock)
  }

  /** New lines stand in the manifest. */
  wake(): void {
    for (const wake of this.#wakers) wake()
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
    if (!context.consents) runs.push(failing(this.#runAnnounced(context)))
    const results = await Promise.allSettled(runs)
    const failed = results.find((result) => result.status === 'rejected')
    if (failed && !signal.aborted) throw failure.signal.reason
  }

  async #runAnnounced(context: ImportContext): Promise<void> {
    using work = this.#options.watchdog.watch(`announced changes of ${context.catalog.name}`)
    await runAnnounced(context, work)
  }

  /** One feed's steps, or the decisions about the catalog (`*`), one after another. */
  async #runScope(context: ImportContext, scope: FeedConfig | '*', onCaughtUp: () => void): Promise<void> {
    const name = scope === '*' ? '*' : scope.name
    using work = this.#options.watchdog.watch(`importing ${context.catalog.name} ${name}`)
    // What is accepted later is no part of the backlog, however steadily it comes.
    let backlog: AcceptSequence | undefined = context.manifest.nextSequence
    const feedContext = scope === '*' ? undefined : { ...context, feed: scope, work, turns: this.#turns }
    const { signal, connection, keys } = context
    const cursor = { sequence: Number((await connection.hget(keys.applied, name)) ?? 0) as AcceptSequence }
    const wakeUp = new WakeUp(signal)
    this.#wakers.add(wakeUp.wake)
    try {
      while (!signal.aborted) {
        const step = nextStep(context.manifest, name, cursor)
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
        if (feedContext) await this.#runFeedStep(feedContext, step)
        else await this.#runCatalogStep(context, step as DecisionLine)
      }
    } finally {
      this.#wakers.delete(wakeUp.wake)
    }
  }

  async #runFeedStep(context: FeedContext, step: ImportStep): Promise<void> {
    const { onImported } = this.#options
    if (step.kind === 'decision') return decideHeld(context, step, onImported)
    const { manifest, log } = context
    if (manifest.outcome(step.sequence)?.outcome === 'refused') {
      const report = await passRefused(context, step)
      if (report) onImported(report, step)
      return
    }
    log.info({ feed: step.feed, file: step.name, sequence: step.sequence, bytes: step.bytes }, 'importing')
    onImported(await importFile(context, step), step)
  }

  async #runCatalogStep({ writer }: ImportContext, step: DecisionLine): Promise<void> {
    await this.#options.onCatalogDecision(step)
    await writer.update([], () => ({ writes: [], applied: { scope: '*', sequence: step.sequence } }))
  }
}

/** The next step of a scope; lines of others are passed for good, so that an idle feed does not read them again. */
function nextStep(manifest: Manifest, scope: FeedName | '*', cursor: { sequence: AcceptSequence }) {
  for (const step of manifest.after(cursor.sequence, scope)) {
    cursor.sequence = step.sequence
    if (scopeOf(step, (sequence) => manifest.file(sequence)?.feed) === scope) return step
  }
  return undefined
}

/** Which row of steps a line belongs to; undefined: of a feed that is no longer configured or known. */
function scopeOf(
  step: ImportStep,
  feedOf: (sequence: AcceptSequence) => FeedName | undefined,
): FeedName | '*' | undefined {
  if (step.kind === 'accept') return step.feed
  return step.decision === 'approve' || step.decision === 'discard' ? feedOf(step.import) : '*'
}

/** Approve or discard: acts only on what is still held of that very import. */
async function decideHeld(
  context: FeedContext,
  step: DecisionLine,
  onImported: ImporterOptions['onImported'],
): Promise<void> {
  const { feed, connection, keys, writer, manifest, log } = context
  if (step.decision !== 'approve' && step.decision !== 'discard') return
  const applied = { scope: feed.name, sequence: step.sequence }
  const held = parseHeld(await connection.hget(keys.held, feed.name))
  if (held?.sequence !== step.import) {
    log.warn({ feed: feed.name, import: step.import }, 'nothing of this import is held any more')
    await writer.update([], () => ({ writes: [], applied }))
    return
  }
  const isApproved = step.decision === 'approve'
  const accept = isApproved && held.kind === 'file' ? manifest.file(step.import) : undefined
  if (accept && !isFollowed(manifest, accept, step.sequence)) {
    // It may hold removals in its turn: those are for another decision, so nothing held is touched afterwards.
    onImported(await importFile(context, accept, { approvedBy: step.sequence }), accept)
    return
  }
  if (accept)
    log.warn({ feed: feed.name, file: held.file }, 'a later file was imported: drop the held file again')
  if (isApproved && held.kind === 'removals') await applyRemovals(context, held.sequence)
  await writer.update([], () => ({
    writes: [],
    applied,
    held: { feed: feed.name, value: undefined },
    heldIds: { feed: feed.name, clear: true },
    forgetCounts: { sequence: held.sequence, names: tallyNames },
  }))
  context.onOffered()
}

/** Whether another file of the feed was accepted after this one, before the decision. */
function isFollowed(manifest: Manifest, { feed, sequence }: AcceptLine, until: AcceptSequence): boolean {
  for (const line of manifest.after(sequence, feed)) {
    if (line.sequence >= until) return false
    if (line.kind === 'accept') return true
  }
  return false
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
