import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Config } from '../config/model.ts'
import { plainConfig } from '../config/plain-config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log, LogLevel } from '../lib/log.ts'
import { programFile } from '../lib/program-file.ts'
import { receivedError, writeLine } from '../lib/thread-messages.ts'
import type { RedisConnections } from '../redis/connections.ts'
import type { Configured } from './configured.ts'
import type { ReadAnswer, ReadRequest, ReadWorkerData } from './read-worker.ts'
import type { Reads } from './reads.ts'

interface ReadThreadOptions {
  configured: () => Configured
  connections: RedisConnections
  clock: Clock
  log: Log
}

/** After the last page: nobody looks at the console most of the time, and a thread costs memory. */
const idleMs = 120_000
/** After what is done for no page: the next part of it follows at once. */
const backgroundIdleMs = 2_000

/** A small young heap: most of what is read is gone with the page. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 384 }

interface Running {
  worker: Worker
  ended: Promise<unknown>
  /** With which it began. */
  config: Config
  readonly waiting: Map<number, PromiseWithResolvers<unknown>>
}

/**
 * Reads for the pages in a thread of its own.
 *
 * none → running, from the first read on → (no page for two minutes and nothing else to do, or it failed) → none; another configuration
 * → the next read begins another thread, and this one ends once it has answered all
 */
export class ReadThread implements AsyncDisposable {
  readonly #options: ReadThreadOptions
  /** All that have not ended. */
  readonly #threads = new Set<Running>()
  #running: Running | undefined
  #idle: NodeJS.Timeout | undefined
  #asked = 0
  /** On the clock that never jumps. */
  #keptUntilMs = 0

  constructor(options: ReadThreadOptions) {
    this.#options = options
  }

  read<Name extends keyof Reads>(name: Name, ...args: Parameters<Reads[Name]>): ReturnType<Reads[Name]> {
    const { configured, clock } = this.#options
    const { config } = configured()
    clearTimeout(this.#idle)
    if (name !== 'indexWords') this.#keptUntilMs = clock.monotonic() + idleMs
    if (this.#running?.config !== config) this.#retire()
    this.#running ??= this.#start(config)
    this.#asked += 1
    const asked = Promise.withResolvers<unknown>()
    this.#running.waiting.set(this.#asked, asked)
    post(this.#running, { kind: 'read', id: this.#asked, name, args })
    return asked.promise as ReturnType<Reads[Name]>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idle)
    for (const thread of this.#threads) post(thread, { kind: 'close' })
    await Promise.all([...this.#threads].map(({ ended }) => ended))
  }

  #start(config: Config): Running {
    const { connections, log } = this.#options
    const workerData: ReadWorkerData = {
      ...{ config: plainConfig(config), redis: connections.target, logLevel: log.level as LogLevel },
    }
    const worker = new Worker(programFile('./read-worker.ts', import.meta.url), {
      workerData,
      resourceLimits,
    })
    const ended = once(worker, 'exit').catch(() => undefined)
    const thread: Running = { worker, ended, config, waiting: new Map() }
    worker.on('message', (answer: ReadAnswer) => this.#take(thread, answer))
    worker.on('error', (error) => log.error({ err: error }, 'the thread of the console failed'))
    worker.on('exit', () => this.#ended(thread))
    this.#threads.add(thread)
    return thread
  }

  #ended(thread: Running): void {
    this.#threads.delete(thread)
    if (this.#running === thread) this.#running = undefined
    for (const asked of thread.waiting.values())
      asked.reject(new Error('the thread of the console has ended'))
  }

  #retireWhenIdle(): void {
    const leftMs = this.#keptUntilMs - this.#options.clock.monotonic()
    this.#idle = setTimeout(() => this.#retire(), Math.max(backgroundIdleMs, leftMs)).unref()
  }

  #retire(): void {
    const thread = this.#running
    this.#running = undefined
    if (thread?.waiting.size === 0) post(thread, { kind: 'close' })
  }

  #take(thread: Running, answer: ReadAnswer): void {
    if (answer.kind === 'log') {
      writeLine(this.#options.log, answer.line)
      return
    }
    const { waiting } = thread
    const asked = waiting.get(answer.id)
    waiting.delete(answer.id)
    if (waiting.size === 0 && this.#running !== thread) post(thread, { kind: 'close' })
    else if (waiting.size === 0) this.#retireWhenIdle()
    if (answer.kind === 'answer') asked?.resolve(answer.value)
    else if (answer.kind === 'failed') asked?.reject(receivedError(answer.failure))
    else asked?.reject(new Error(answer.text))
  }
}

function post({ worker }: Running, request: ReadRequest): void {
  worker.postMessage(request)
}
