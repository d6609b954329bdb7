import type { JobSchedulerJson } from 'bullmq'
import type { PullConfig } from '../config/model.ts'
import type { RedisConnections } from './connections.ts'
import { schedulesName } from './next-due.ts'
import { type OpenTicketQueueOptions, openTicketQueue, type TicketQueue, ticketOptions } from './tickets.ts'

/** Something that is due again and again. */
export interface Schedule {
  /** No colons, not a number. */
  id: string
  at: PullConfig['schedule']
}

interface RunOptions {
  /** At one time. */
  concurrency: number
  onDue: (id: string) => Promise<void>
}

/** Opens the schedules of a catalog; they go on in Redis while nobody has them open. */
export async function openSchedules(options: Omit<OpenTicketQueueOptions, 'name'>): Promise<Schedules> {
  const tickets = await openTicketQueue({ ...options, name: schedulesName })
  return new Schedules(tickets, options.connections)
}

/**
 * The BullMQ job schedulers of one catalog. Times that pass while nobody runs them are made up for once. Redis may lose
 * them at any time: whoever owns them sets them again every half a minute.
 */
export class Schedules implements AsyncDisposable {
  readonly #tickets: TicketQueue
  readonly #connections: RedisConnections

  constructor(tickets: TicketQueue, connections: RedisConnections) {
    this.#tickets = tickets
    this.#connections = connections
  }

  /** From now on exactly these. One that stands as it should is left alone: what it missed is still due. */
  async set(schedules: readonly Schedule[]): Promise<void> {
    const { queue } = this.#tickets
    await this.#connections.explained(async () => {
      const present = await queue.getJobSchedulers()
      const wanted = new Set(schedules.map(({ id }) => id))
      for (const { key } of present) if (!wanted.has(key)) await queue.removeJobScheduler(key)
      for (const schedule of schedules) {
        const known = present.find(({ key }) => key === schedule.id)
        if (known && isSame(known, schedule) && (await this.#isAlive(known))) continue
        await queue.upsertJobScheduler(schedule.id, repeatOf(schedule), { name: 'due', opts: ticketOptions })
      }
    })
  }

  /** Once more, beside the schedule, in so many ms. Asked for again, the earlier time counts. */
  async runIn(id: string, delayMs: number): Promise<void> {
    await this.#tickets.ensureTicket({ id: `${oncePrefix}${id}`, priority: 1, delayMs })
  }

  /** Runs in this process what is due, until disposed. One id may be due again while it runs. */
  run({ concurrency, onDue }: RunOptions): AsyncDisposable {
    return this.#tickets.runTickets({ concurrency, onTicket: (ticket) => onDue(idOf(ticket)) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tickets[Symbol.asyncDispose]()
  }

  /** A schedule without its next job would never be due again. */
  async #isAlive({ key, next }: JobSchedulerJson): Promise<boolean> {
    const job = await this.#tickets.queue.getJob(`repeat:${key}:${next}`)
    return job !== undefined && (await job.getState()) !== 'unknown'
  }
}

const oncePrefix = 'once-'

function idOf(ticket: string): string {
  const [, scheduled] = /^repeat:(.+):\d+$/.exec(ticket) ?? []
  return scheduled ?? ticket.slice(oncePrefix.length)
}

function isSame({ every, pattern, tz }: JobSchedulerJson, { at }: Schedule): boolean {
  return at.kind === 'every' ? every === at.everyMs : pattern === at.pattern && tz === at.zone
}

function repeatOf({ at }: Schedule) {
  return at.kind === 'every' ? { every: at.everyMs } : { pattern: at.pattern, tz: at.zone }
}
