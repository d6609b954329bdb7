import { Worker } from 'node:worker_threads'
import { OperatingError } from '../lib/errors.ts'
import type { Log, LogLevel } from '../lib/log.ts'
import { programFile } from '../lib/program-file.ts'
import { receivedError, sentError, writeLine } from '../lib/thread-messages.ts'
import type { Watchdog } from '../lib/watchdog.ts'
import type { MirrorConnection } from '../mirror/live-mirror.ts'
import type { Manifest } from '../sources/manifest.ts'
import type { NewLine } from '../sources/manifest-reading.ts'
import type { FeedsConfig } from './context.ts'
import type { ImportAnswer, ImportRequest, ImportWorkerData } from './import-worker.ts'
import type { ProductRunnerOptions } from './product-imports.ts'

interface ImportThreadOptions
  extends Pick<
    ProductRunnerOptions,
    'catalog' | 'dir' | 'onApplying' | 'onImported' | 'onNotice' | 'onFatal'
  > {
  manifest: Manifest
  mirror: MirrorConnection
  watchdog: Watchdog
  log: Log
}

/**
 * Imports the products of a catalog in a thread of its own, so that delivery, console and watching have this one. The
 * thread follows the manifest, asks for the lines that it adds, and has its own connection to the mirror.
 *
 * Made → running → (a bug, or a damaged database: the process ends) → stopped: what is under way is interrupted at its
 * next batch.
 */
export class ImportThread implements AsyncDisposable {
  readonly #options: ImportThreadOptions
  #worker: Worker | undefined
  #ended: Promise<void> = Promise.resolve()
  #forgotten = Promise.withResolvers<void>()
  #isStopping = false

  constructor(options: ImportThreadOptions) {
    this.#options = options
  }

  start(): void {
    const { catalog, dir, manifest, mirror, watchdog, log, onFatal } = this.#options
    const workerData: ImportWorkerData = {
      ...{ catalog: withoutSources(catalog), dir, mirror, logLevel: log.level as LogLevel },
      heartbeat: watchdog.watchThread(),
      manifest: manifest.follow((...line) => this.#post({ kind: 'line', line })),
    }
    const worker = new Worker(programFile('./import-worker.ts', import.meta.url), {
      workerData,
      transferList: [mirror.port],
    })
    worker.on('message', (answer: ImportAnswer) => this.#take(answer))
    worker.on('error', onFatal)
    this.#ended = new Promise((resolve) => {
      worker.on('exit', () => {
        resolve()
        if (!this.#isStopping) onFatal(new Error('the thread of imports has ended'))
      })
    })
    this.#worker = worker
  }

  wake(): void {
    this.#post({ kind: 'wake' })
  }

  makeWay(): void {
    this.#post({ kind: 'make-way' })
  }

  forget(nowMs: number): Promise<void> {
    this.#forgotten = Promise.withResolvers()
    this.#post({ kind: 'forget', nowMs })
    return Promise.race([this.#forgotten.promise, this.#ended])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true
    this.#post({ kind: 'close' })
    await this.#ended
  }

  #post(request: ImportRequest): void {
    this.#worker?.postMessage(request)
  }

  #take(answer: ImportAnswer): void {
    const { log, onApplying, onImported, onNotice, onFatal } = this.#options
    switch (answer.kind) {
      case 'append':
        void this.#append(answer.lines)
        return
      case 'applying':
        onApplying?.(answer.accept)
        return
      case 'imported':
        onImported(answer.report, answer.accept)
        return
      case 'forgot':
        if (answer.failure) this.#forgotten.reject(receivedError(answer.failure))
        else this.#forgotten.resolve()
        return
      case 'notice':
        onNotice(answer.text)
        return
      case 'log':
        writeLine(log, answer.line)
        return
      case 'fatal':
        onFatal(receivedError(answer.failure))
        return
      default:
        answer satisfies never
    }
  }

  /** In the order in which they are asked for. The thread has been told of the lines before. */
  async #append(lines: readonly NewLine[]): Promise<void> {
    try {
      this.#post({ kind: 'appended', lines: await this.#options.manifest.append(lines) })
    } catch (error) {
      if (!(error instanceof OperatingError)) return this.#options.onFatal(error)
      this.#post({ kind: 'refused', failure: sentError(error) })
    }
  }
}

/** Where files are fetched is no business of imports, and the secrets for it are no plain data. */
function withoutSources({ name, feeds, urgent }: FeedsConfig): FeedsConfig {
  const plain = [...feeds].map(([feed, { pull: _, ...config }]) => [feed, config] as const)
  return { name, urgent, feeds: new Map(plain) }
}
