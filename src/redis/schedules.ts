import { type JobSchedulerJson, Queue } from 'bullmq'
import type { PullConfig } from '../config/model.ts'
import type { CatalogName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { ReleaseStack } from '../lib/release-stack.ts'
import type { RedisConnections } from './connections.ts'
import { openTicketQueue, queuePrefix, type TicketQueue } from './tickets.ts'

/** Something that is due again and again. */
export interface Schedule {
  /** No colons, not a number. */
  id: string
  at: PullConfig['schedule']
}

interface OpenOptions {
  connections: RedisConnections
  catalog: CatalogName
  clock: Clock
  log: Log
}

interface RunOptions {
  /** At one time. */
  concurrency: number
  onDue: (id: string) => Promise<void>
}

const queueName = 'schedules'

/** Opens the schedules of a catalog; they go on in Redis while nobody has them open. */
export async function openSchedules(options: OpenOptions): Promise<Schedules> {
  const stack = new ReleaseStack()
  const tickets = stack.use('tickets', await openTicketQueue({ ...options, name: queueName }))
  const queue = new Queue(queueName, {
    connection: options.connections.commands,
    prefix: queuePrefix(options.catalog),
  })
  // The connection's owner logs its failures; commands report their own.
  queue.on('error', () => {})
  stack.push('queue', () => queue.close())
  return new Schedules({ queue, tickets, connections: options.connections, stack })
}

/** Whether a catalog has schedules, without opening them. */
export async function hasSchedules(connections: RedisConnections, catalog: CatalogName): Promise<boolean> {
  const count = await explained(connections, ({ commands }) =>
    commands.zcard(`${queuePrefix(catalog)}:${queueName}:repeat`),
  )
  return count > 0
}

/** Wall-clock ms of the next time, by the clock that wrote it; undefined: none is known. */
export async function readNextDue(
  connections: RedisConnections,
  { catalog, id }: { catalog: CatalogName; id: string },
): Promise<number | undefined> {
  const score = await explained(connections, ({ commands }) =>
    commands.zscore(`${queuePrefix(catalog)}:${queueName}:repeat`, id),
  )
  return score === null ? undefined : Number(score)
}

async function explained<T>(
  connections: RedisConnections,
  ask: (connections: RedisConnections) => Promise<T>,
): Promise<T> {
  try {
    return await ask(connections)
  } catch (error) {
    throw connections.explain(error)
  }
}

interface Parts {
  queue: Queue
  tickets: TicketQueue
  connections: RedisConnections
  stack: ReleaseStack
}

/**
 * The BullMQ job schedulers of one catalog. Times that pass while nobody runs them are made up for once. Redis may lose
 * them at any time: whoever owns them sets them again every half a minute.
 */
export class Schedules implements AsyncDisposable {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** From now on exactly these. One that stands as it should is left alone: what it missed is still due. */
  async set(schedules: readonly Schedule[]): Promise<void> {
    const { queue, connections } = this.#parts
    await explained(connections, async () => {
      const present = await queue.getJobSchedulers()
      const wanted = new Set(schedules.map(({ id }) => id))
      for (const { key } of present) if (!wanted.has(key)) await queue.removeJobScheduler(key)
      for (const schedule of schedules) {
        const known = present.find(({ key }) => key === schedule.id)
        if (known && isSame(known, schedule) && (await this.#isAlive(known))) continue
        await queue.upsertJobScheduler(schedule.id, repeatOf(schedule), { name: 'due', opts: jobOptions })
      }
    })
  }

  /** Once more, beside the schedule, in so many ms. Asked for again, the earlier time counts. */
  async runIn(id: string, delayMs: number): Promise<void> {
    await this.#parts.tickets.ensureTicket({ id: `${oncePrefix}${id}`, priority: 1, delayMs })
  }

  /** Runs in this process what is due, until disposed. One id may be due again while it runs. */
  run({ concurrency, onDue }: RunOptions): AsyncDisposable {
    return this.#parts.tickets.runTickets({ concurrency, onTicket: (ticket) => onDue(idOf(ticket)) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.stack[Symbol.asyncDispose]()
  }

  /** A schedule without its next job would never be due again. */
  async #isAlive({ key, next }: JobSchedulerJson): Promise<boolean> {
    const { queue } = this.#parts
    const job = await queue.getJob(`repeat:${key}:${next}`)
    return job !== undefined && (await job.getState()) !== 'unknown'
  }
}

const oncePrefix = 'once-'
const jobOptions = { removeOnComplete: true, removeOnFail: true, attempts: 1 }

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
