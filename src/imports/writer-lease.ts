import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { RedisConnection } from '../redis/connection.ts'

const leaseMs = 15_000
const renewEveryMs = 5_000
const askAgainMs = 1_000

interface LeaseOptions {
  connection: RedisConnection
  keys: CatalogKeys
  stateId: string
  clock: Clock
  log: Log
  signal: AbortSignal
}

/**
 * Keeps a second state folder from importing the same catalog into the same Redis. Inside one state folder the lock on
 * disk decides, so a lease of the same folder (of a process that was killed) is taken over at once. The lease is a
 * courtesy; what makes a second writer harmless is the watched position of `CatalogWriter`.
 */
export class WriterLease implements AsyncDisposable {
  readonly #options: LeaseOptions
  readonly #lost = new AbortController()
  readonly #timer: NodeJS.Timeout

  private constructor(options: LeaseOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#renew(), renewEveryMs)
  }

  static async take(options: LeaseOptions): Promise<WriterLease> {
    const { connection, keys, stateId, clock, log, signal } = options
    let told = false
    for (;;) {
      signal.throwIfAborted()
      if ((await connection.set(keys.writerLease, stateId, 'PX', leaseMs, 'NX')) === 'OK') break
      if ((await connection.get(keys.writerLease)) === stateId) break
      // The clock of Redis was set back: no lease is longer than it was asked for.
      if ((await connection.pttl(keys.writerLease)) > leaseMs)
        await connection.pexpire(keys.writerLease, leaseMs)
      if (!told)
        log.warn('a catalogd with another state folder imports this catalog into the same Redis; standing by')
      told = true
      await clock.sleep(askAgainMs, signal)
    }
    await connection.pexpire(keys.writerLease, leaseMs)
    return new WriterLease(options)
  }

  /** Aborted when somebody else holds the lease. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
  }

  async #renew(): Promise<void> {
    const { connection, keys, stateId } = this.#options
    try {
      if ((await connection.get(keys.writerLease)) === stateId)
        await connection.pexpire(keys.writerLease, leaseMs)
      else if ((await connection.set(keys.writerLease, stateId, 'PX', leaseMs, 'NX')) !== 'OK')
        this.#lost.abort()
    } catch {
      // Redis is away: the writer notices by itself.
    }
  }
}
