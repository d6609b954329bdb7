import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Config } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log, LogLevel } from '../lib/log.ts'
import { programFile } from '../lib/program-file.ts'
import { receivedError, writeLine } from '../lib/thread-messages.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { plainConfig } from './plain-config.ts'
import type { ReadAnswer, ReadRequest, ReadWorkerData } from './read-worker.ts'
import type { Reads } from './reads.ts'

interface ReadThreadOptions {
  config: Config
  connections: RedisConnections
  clock: Clock
  log: Log
}

/** Nobody looks at the console most of the time, and a thread costs memory. */
const idleMs = 120_000

/** A small young heap: most of what is read is gone with the page. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 384 }

interface Running {
  worker: Worker
  ended: Promise<unknown>
}

/**
 * Reads for the pages in a thread of its own.
 *
 * none → running, from the first read on → (nothing was asked for two minutes, or it failed) → none
 */
export class ReadThread implements AsyncDisposable {
  readonly #options: ReadThreadOptions
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #running: Running | undefined
  #idle: NodeJS.Timeout | undefined
  #asked = 0

  constructor(options: ReadThreadOptions) {
    this.#options = options
  }

  read<Name extends keyof Reads>(name: Name, ...args: Parameters<Reads[Name]>): ReturnType<Reads[Name]> {
    this.#running ??= this.#start()
    clearTimeout(this.#idle)
    this.#asked += 1
    const asked = Promise.withResolvers<unknown>()
    this.#waiting.set(this.#asked, asked)
    this.#post({ kind: 'read', id: this.#asked, name, args })
    return asked.promise as ReturnType<Reads[Name]>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idle)
    const running = this.#running
    this.#end()
    await running?.ended
  }

  #start(): Running {
    const { config, connections, log } = this.#options
    const workerData: ReadWorkerData = {
      ...{ config: plainConfig(config), redis: connections.target, logLevel: log.level as LogLevel },
    }
    const worker = new Worker(programFile('./read-worker.ts', import.meta.url), {
      workerData,
      resourceLimits,
    })
    worker.on('message', (answer: ReadAnswer) => this.#take(answer))
    worker.on('error', (error) => log.error({ err: error }, 'the thread of the console failed'))
    const running = { worker, ended: once(worker, 'exit').catch(() => undefined) }
    worker.on('exit', () => this.#ended(running))
    return running
  }

  #ended(running: Running): void {
    if (this.#running !== undefined && this.#running !== running) return
    this.#running = undefined
    for (const asked of this.#waiting.values()) asked.reject(new Error('the thread of the console has ended'))
    this.#waiting.clear()
  }

  #end(): void {
    this.#post({ kind: 'close' })
    this.#running = undefined
  }

  #post(request: ReadRequest): void {
    this.#running?.worker.postMessage(request)
  }

  #take(answer: ReadAnswer): void {
    if (answer.kind === 'log') {
      writeLine(this.#options.log, answer.line)
      return
    }
    const asked = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (this.#waiting.size === 0) this.#idle = setTimeout(() => this.#end(), idleMs).unref()
    if (answer.kind === 'answer') asked?.resolve(answer.value)
    else if (answer.kind === 'failed') asked?.reject(receivedError(answer.failure))
    else asked?.reject(new Error(answer.text))
  }
}
