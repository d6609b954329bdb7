import { type Job, Worker } from 'bullmq'
import type { Clock } from '../lib/clock.ts'
import { describeError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import type { WorkerConnection } from './connection.ts'
import type { RedisConnections } from './connections.ts'
import { isConnectionFailure } from './failure.ts'

export interface RunTicketsOptions {
  /** Tickets at one time. */
  concurrency: number
  /** The signal is aborted when the ticket was lost to another process, or when closing takes too long. */
  onTicket: (id: string, signal: AbortSignal) => Promise<void>
  /** The ticket is gone from the queue: look whether it is needed again. */
  onEnded?: (id: string) => void
}

interface StartOptions extends RunTicketsOptions {
  connections: RedisConnections
  clock: Clock
  log: Log
  queue: string
  prefix: string
}

/** A process that is blocked or cut off for longer loses its tickets to others. */
const lockMs = 6_000
const renewLockEveryMs = 2_000
/** How often tickets of processes that died are looked for. */
const lostTicketsEveryMs = 2_000
/** A lost ticket is run again however often: it is the outbox that counts failures. */
const lossesMax = 1_000_000
/** How long one BZPOPMIN waits; shorter than the silence after which a connection is given up. */
const blockSeconds = 2
const finishWithinMs = 10_000
const abortWithinMs = 2_000
const backOffMs = 1_000
/** More errors than this in a second: the server refuses, and BullMQ asks again without a pause. */
const errorsInARowMax = 5
/** Errors that follow each other sooner are one trouble, told once. */
const troubleOverAfterMs = 60_000

class TicketWorker extends Worker {
  /** BullMQ does so last when it closes, thus never while Redis is away: its timer would keep the process alive. */
  async endRenewal(): Promise<void> {
    await this.lockManager.close()
  }
}

/**
 * Runs tickets with one BullMQ worker: running → closing (running tickets finish; after 10 s their signals are aborted;
 * after 2 s more they are left alone) → closed. Survives any outage of Redis.
 */
export class TicketRunner implements AsyncDisposable {
  readonly #options: StartOptions
  readonly #connection: WorkerConnection
  readonly #worker: TicketWorker
  /** Tickets that run in this process, by id. */
  readonly #running = new Map<string, { ended: Promise<void>; abort: AbortController }>()
  readonly #closing = new AbortController()
  #errors = { count: 0, since: 0 }
  #lastErrorAt = Number.NEGATIVE_INFINITY

  constructor(options: StartOptions) {
    this.#options = options
    this.#connection = options.connections.openWorker()
    this.#connection.on('error', () => {})
    this.#worker = new TicketWorker(options.queue, (job) => this.#run(job), {
      connection: this.#connection,
      prefix: options.prefix,
      concurrency: options.concurrency,
      drainDelay: blockSeconds,
      lockDuration: lockMs,
      lockRenewTime: renewLockEveryMs,
      stalledInterval: lostTicketsEveryMs,
      maxStalledCount: lossesMax,
      runRetryDelay: backOffMs,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    })
    this.#worker.on('error', (error) => this.#noteError(error))
    this.#worker.on('lockRenewalFailed', (ids) => this.#abort(ids, 'the ticket was lost to another process'))
    this.#worker.on('completed', (job) => this.#ended(job))
    this.#worker.on('failed', (job) => this.#ended(job))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { clock, log } = this.#options
    this.#closing.abort()
    await this.#worker.pause(true)
    if (!(await this.#finished(finishWithinMs))) {
      this.#abort([...this.#running.keys()], 'catalogd ends')
      if (!(await this.#finished(abortWithinMs)))
        log.warn({ tickets: [...this.#running.keys()] }, 'tickets did not end in time')
    }
    // Waits for the last ticket's removal; useless, and endless, while Redis is away.
    const closed = this.#worker.close(this.#running.size > 0).catch(() => {})
    await settlesWithin(clock, abortWithinMs, closed)
    await this.#worker.endRenewal()
    await this.#connection.closeAll(clock)
  }

  async #run(job: Job): Promise<void> {
    const id = job.id ?? ''
    // Lost and taken again by ourselves: the first run goes on, and the caller ensures the ticket again.
    if (this.#running.has(id)) return
    const abort = new AbortController()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.#running.set(id, { ended, abort })
    try {
      await this.#options.onTicket(id, abort.signal)
    } catch (error) {
      if (!abort.signal.aborted) this.#options.log.error({ ticket: id, error }, 'a ticket failed')
      throw error
    } finally {
      this.#running.delete(id)
      resolve()
    }
  }

  #ended(job: Job | undefined): void {
    if (job?.id !== undefined) this.#options.onEnded?.(job.id)
  }

  #abort(ids: readonly string[], reason: string): void {
    for (const id of ids) this.#running.get(id)?.abort.abort(new Error(reason))
  }

  /** True when no ticket runs any more within the time. */
  async #finished(withinMs: number): Promise<boolean> {
    const ended = Promise.all([...this.#running.values()].map((each) => each.ended))
    await settlesWithin(this.#options.clock, withinMs, ended)
    return this.#running.size === 0
  }

  /**
   * Connections that break are logged once, by their owner. BullMQ repeats a refused command (memory full, read-only)
   * without a pause, so the worker rests a moment when errors follow each other.
   */
  #noteError(error: Error): void {
    if (this.#closing.signal.aborted || isConnectionFailure(error)) return
    const now = this.#options.clock.monotonic()
    if (now - this.#errors.since > backOffMs) this.#errors = { count: 0, since: now }
    this.#errors.count++
    const isNew = now - this.#lastErrorAt > troubleOverAfterMs
    this.#lastErrorAt = now
    if (isNew) {
      this.#options.log.warn({ error: describeError(error) }, 'Redis refuses what the ticket queue asks')
    }
    if (this.#errors.count === errorsInARowMax) void this.rest()
  }

  /** For a second no ticket is taken, so that others may. */
  async rest(): Promise<void> {
    await this.#worker.pause(true)
    await this.#options.clock.sleep(backOffMs, this.#closing.signal).catch(() => {})
    if (!this.#closing.signal.aborted) await this.#worker.resume()
  }
}
