import { type ChainableCommander, Redis, type RedisOptions } from 'ioredis'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import { blockingOptions } from './connection-options.ts'

/** One connection to Redis. Other stages know it by this name, so that `ioredis` is named in this folder only. */
export type RedisConnection = Redis

/** Commands collected by `pipeline()` or `multi()`. */
export type RedisBatch = ChainableCommander

/** Wall-clock ms by the clock of the server, which all processes share. */
export async function readRedisTime(connection: RedisConnection): Promise<number> {
  const [seconds, micros] = await connection.time()
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
}

/** The connection of a BullMQ worker, with the second, blocking one that BullMQ makes of it. */
export class WorkerConnection extends Redis {
  readonly #copies: Redis[] = []

  override duplicate(override?: Partial<RedisOptions>): Redis {
    const copy = new Redis({ ...this.options, ...override, ...blockingOptions, replyMapping: 'legacy' })
    this.#copies.push(copy)
    return copy
  }

  /** Ends both connections, whatever they are doing: BullMQ's own way waits for ever while Redis is away. */
  async closeAll(clock: Clock): Promise<void> {
    await Promise.all([this, ...this.#copies].map((connection) => closeConnection(connection, clock)))
  }
}

/** Ends a connection without waiting for replies; resolves when its socket is closed. */
export async function closeConnection(connection: Redis, clock: Clock): Promise<void> {
  const { status } = connection
  if (status === 'end') return
  // ioredis tells nobody that it ended when it had no socket at the time.
  const hasSocket = status === 'ready' || status === 'connect' || status === 'connecting'
  // Not once(): that rejects on an error, and a connection that is closed while it connects reports one.
  connection.on('error', () => {})
  const ended = hasSocket ? new Promise((resolve) => connection.once('end', resolve)) : undefined
  connection.disconnect()
  if (ended) await settlesWithin(clock, disconnectWithinMs, ended)
}

/** ioredis destroys a socket that the other side does not close after 2 s. */
const disconnectWithinMs = 3_000
