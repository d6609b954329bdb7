import { keyFieldsOf } from '../catalog/feed-key.ts'
import { rankFields } from '../catalog/ranks.ts'
import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { ConsentIntake } from '../consents/model.ts'
import type { Clock } from '../lib/clock.ts'
import { describeError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Watchdog } from '../lib/watchdog.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import { newAfterMs } from '../outbox/outbox.ts'
import type { OutboxScripts } from '../outbox/scripts.ts'
import { CatalogWriter } from '../outbox/writer.ts'
import type { RedisConnections } from '../redis/connections.ts'
import type { Archive } from '../sources/archive.ts'
import { isOperatingFailure } from '../sources/folder-access.ts'
import type { Manifest } from '../sources/manifest.ts'
import type { AcceptLine, DecisionLine } from '../sources/model.ts'
import { Importer } from './importer.ts'
import { prepareKeyIndexes } from './key-indexes.ts'
import type { ImportReport } from './report.ts'
import { Room } from './room.ts'
import type { UnexpectedFailures } from './unexpected-failures.ts'
import { WriterLease } from './writer-lease.ts'

const retryAfterMs = 500
const retryAfterMaxMs = 5_000
const wentWellMs = 10_000
const verifyEveryMs = 2_000
/** A call carries one consent: nothing is gained by waiting. */
const newConsentAfterMs = 0

export interface ImportRunnerOptions {
  catalog: CatalogConfig
  /** All of one kind. */
  feeds: readonly FeedConfig[]
  /** For feeds of consents; `keys` and `scripts` are theirs then. */
  consents: ConsentIntake | undefined
  connections: RedisConnections
  keys: CatalogKeys
  scripts: OutboxScripts
  manifest: Manifest
  archive: Archive
  reportsDir: string
  unexpectedFailures: UnexpectedFailures
  /** Identity of the manifest: its sequences mean nothing to another one. */
  stateId: string
  clock: Clock
  log: Log
  watchdog: Watchdog
  onOffered: () => void
  onImported: (report: ImportReport, accept: AcceptLine) => void
  onCatalogDecision: (decision: DecisionLine) => Promise<void>
  /** Trouble that keeps imports from going on; undefined: it is over. */
  onNotice: (text: string | undefined) => void
  /** A bug: the process ends and its supervisor starts it again. */
  onFatal: (error: unknown) => void
}

/**
 * Keeps a catalog's imports going: opens a writer, runs the importer until something fails, and begins again.
 *
 * waiting for Redis and the lease → importing → (failure) → waiting …  → stopped. Redis being away, a disk that is full
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
    const { connections, unexpectedFailures, clock, log, onNotice } = this.#options
    let delayMs = retryAfterMs
    while (!signal.aborted) {
      let readyAt = Number.POSITIVE_INFINITY
      try {
        await connections.waitUntilReady({ signal })
        await this.#importUntilFailure(() => {
          readyAt = clock.monotonic()
          onNotice(undefined)
        })
      } catch (error) {
        if (signal.aborted) return
        const failure = connections.explain(error)
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
    const { catalog, feeds, consents, connections, keys, scripts, stateId, clock, log } = this.#options
    const { signal } = this.#stop
    await using lease = await WriterLease.take({
      connection: connections.commands,
      keys,
      stateId,
      clock,
      log,
      signal,
    })
    await consents?.begin()
    await using writer = await CatalogWriter.open({
      connection: await connections.openWriter(),
      keys,
      scripts,
      delays: {
        deferredAfterMs: catalog.deferred.afterMs,
        newAfterMs: consents ? newConsentAfterMs : newAfterMs,
      },
    })
    const known = await connections.commands.get(keys.origin)
    if (known !== stateId) await writer.update([], () => ({ writes: [], origin: stateId }))
    const keyFields = consents ? [] : keyFieldsOf(catalog.feeds)
    const connection = connections.commands
    await prepareKeyIndexes({ connection, keys, keyFields, writer, log, catalog, signal })
    const { manifest, archive, reportsDir, unexpectedFailures, watchdog } = this.#options
    const { onOffered, onImported, onCatalogDecision, onNotice } = this.#options
    this.#importer = new Importer({
      context: {
        catalog,
        ranks: rankFields(catalog.feeds),
        keyFields,
        manifest,
        archive,
        reportsDir,
        writer,
        connection,
        keys,
        consents,
        room: consents ? undefined : new Room({ connections, clock, log, onNotice }),
        unexpectedFailures,
        clock,
        log,
        onOffered,
      },
      feeds,
      watchdog,
      onImported,
      onCatalogDecision,
      onCaughtUp: () => consents?.gate.open(writer),
    })
    onReady()
    const ended = new AbortController()
    const broken = new AbortController()
    const verifying = this.#verify(writer, ended.signal).catch((error: unknown) => broken.abort(error))
    try {
      await this.#importer.run(AbortSignal.any([signal, lease.lost, broken.signal]))
    } finally {
      this.#importer = undefined
      ended.abort()
      await verifying
    }
    broken.signal.throwIfAborted()
  }

  /**
   * A Redis that loses what it holds while nothing is imported would otherwise be noticed with the next file only, and a
   * key that was removed by the next command.
   */
  async #verify(writer: CatalogWriter, until: AbortSignal): Promise<void> {
    const { clock, consents } = this.#options
    while (!until.aborted) {
      await clock.sleep(verifyEveryMs, until).catch(() => undefined)
      if (until.aborted) return
      await writer.verify()
      await consents?.keepKey()
    }
  }
}
