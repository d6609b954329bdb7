import { Queue } from 'bullmq'
import type { CatalogName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { RedisConnections } from './connections.ts'
import { queuePrefix } from './next-due.ts'
import { type RunTicketsOptions, TicketRunner } from './ticket-runner.ts'

/** A wake-up for a run of upsert calls. It carries nothing: what to send is looked up when it runs. */
interface Ticket {
  /** At most one ticket of an id exists at a time, over all processes of the catalog. No colons, not a number. */
  id: string
  /** 1 is taken first; at most 2,097,152. */
  priority: number
  /** Not before so many ms have passed. */
  delayMs?: number
}

type EnsureAnswer = 'added' | 'present' | 'moved-earlier'

export interface OpenTicketQueueOptions {
  connections: RedisConnections
  catalog: CatalogName
  /** Of the queue; default: `deliveries`. */
  name?: 'deliveries' | 'schedules'
  clock: Clock
  log: Log
}

/** Scores of BullMQ's delayed set are the due time in ms times this, plus a counter. */
const delayedScoreUnit = 0x1000
/** BullMQ writes an event for everything it does; nobody reads them here. */
const eventsMax = 100

export const ticketOptions = { removeOnComplete: true, removeOnFail: true, attempts: 1 }

export function openTicketQueue(options: OpenTicketQueueOptions): Promise<TicketQueue> {
  const { connections } = options
  const tryOpen = async () => {
    const tickets = new TicketQueue(options)
    try {
      await tickets.queue.waitUntilReady()
      return tickets
    } catch (error) {
      // BullMQ asks for the server's version once; a queue that got no answer is of no use any more.
      await tickets[Symbol.asyncDispose]()
      throw error
    }
  }
  return connections.explained(() => connections.whileOpening(tryOpen))
}

/**
 * A BullMQ queue of one catalog: `deliveries` or `schedules`. A ticket may be lost or run twice at any time;
 * callers ensure the tickets that should exist again and again.
 */
export class TicketQueue implements AsyncDisposable {
  readonly #options: OpenTicketQueueOptions
  readonly queue: Queue
  readonly #prefix: string

  constructor(options: OpenTicketQueueOptions) {
    this.#options = options
    this.#prefix = queuePrefix(options.catalog)
    this.queue = new Queue(options.name ?? 'deliveries', {
      connection: options.connections.commands,
      prefix: this.#prefix,
      streams: { events: { maxLen: eventsMax } },
      defaultJobOptions: ticketOptions,
    })
    // The connection's owner logs its failures; commands report their own.
    this.queue.on('error', () => {})
  }

  /**
   * Makes sure that a ticket of this id waits, is delayed no longer than asked for, or runs: then `onEnded` comes after it.
   */
  ensureTicket(ticket: Ticket): Promise<EnsureAnswer> {
    return this.#options.connections.explained(() => this.#ensure(ticket))
  }

  /** False while Redis is short of memory: it may refuse what a ticket needs. */
  async areReliable(): Promise<boolean> {
    return !(await this.#options.connections.isShortOfMemory())
  }

  /** Runs tickets, also those that other processes made, until disposed. */
  runTickets(options: RunTicketsOptions): Pick<TicketRunner, 'rest' | typeof Symbol.asyncDispose> {
    const { connections, clock, log } = this.#options
    return new TicketRunner({
      ...{ connections, clock, log, queue: this.queue.name, prefix: this.#prefix },
      ...options,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.queue.close()
  }

  async #ensure(ticket: Ticket): Promise<EnsureAnswer> {
    const state = await this.queue.getJobState(ticket.id)
    if (state === 'active' || state === 'waiting' || state === 'prioritized') return 'present'
    if (state === 'delayed') return this.#moveEarlier(ticket)
    // A record that stands in no list (Redis lost writes) would make BullMQ ignore the addition silently, for ever.
    const orphan = await this.queue.getJob(ticket.id)
    if (orphan && (await orphan.getState()) === 'unknown') await this.queue.remove(ticket.id)
    await this.queue.add(
      'ticket',
      {},
      { jobId: ticket.id, priority: ticket.priority, delay: ticket.delayMs ?? 0 },
    )
    return 'added'
  }

  async #moveEarlier({ id, delayMs = 0 }: Ticket): Promise<EnsureAnswer> {
    const score = await this.#options.connections.commands.zscore(this.queue.toKey('delayed'), id)
    const job = await this.queue.getJob(id)
    if (!job || score === null) return 'present'
    const dueInMs = Number(score) / delayedScoreUnit - this.#options.clock.now()
    if (delayMs >= dueInMs) return 'present'
    try {
      await (delayMs <= 0 ? job.promote() : job.changeDelay(delayMs))
      return 'moved-earlier'
    } catch (error) {
      // It became due, or somebody else moved it, in the meantime.
      if ((await job.getState()) !== 'delayed') return 'present'
      throw error
    }
  }
}
