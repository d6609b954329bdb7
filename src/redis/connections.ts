import { Redis } from 'ioredis'
import type { Clock } from '../lib/clock.ts'
import { describeError, type OperatingError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import { closeConnection, type RedisConnection, WorkerConnection } from './connection.ts'
import { connectionOptions, describeAddress, type RedisAddress } from './connection-options.ts'
import { downError, explainRedisFailure, isConnectionFailure } from './failure.ts'
import { readServerInfo, waitUntilReady } from './readiness.ts'
import { checkServerInfo, parseServerInfo, type ServerInfo } from './server-info.ts'

const stateWithinMs = 2_000
const openWithinMs = 10_000
/** A server that goes away more often while one thing is opened is not fit for use. */
const outagesMax = 5
const repeatAfterMs = 100
const memoryKnownForMs = 250

export interface OpenRedisOptions {
  address: RedisAddress
  clock: Clock
  log: Log
  /** How long a server may be unreachable before opening fails. Default: 10 s. */
  openWithinMs?: number
  /** Opens also where no server is there in time: for who can do without; `untilFit` tells when it is there. */
  mayBeDown?: boolean
  /** Somebody else tells of outages. */
  isQuiet?: boolean
  signal?: AbortSignal
  /** Earlier runs of an embedded server that lost nothing (`EmbeddedRedis.cleanRuns`). */
  cleanRuns?: readonly string[]
}

export type RedisState =
  | { up: true; since: number; address: string; info: ServerInfo }
  | { up: false; since: number; address: string; error: string }

/** Opens the connections of this process and checks that the server is fit (version, eviction). */
export async function openRedis(options: OpenRedisOptions): Promise<RedisConnections> {
  const connections = new RedisConnections(options)
  try {
    await connections.whileOpening(() => connections.checkFitness())
    return connections
  } catch (error) {
    if (options.mayBeDown && connections.failure) return connections
    await connections[Symbol.asyncDispose]()
    throw connections.explain(error)
  }
}

/**
 * The connections of one process to one Redis. `commands` is shared by all stages: while Redis is away its commands fail
 * at once (`explain` tells why), and it connects again by itself. Writers and workers have connections of their own.
 */
export class RedisConnections implements AsyncDisposable {
  /** For scripts and reads. Never WATCH, block or SELECT on it. */
  readonly commands: RedisConnection
  /** Where Redis is, without credentials. */
  readonly address: string
  readonly #options: OpenRedisOptions
  readonly #outage: OutageLog
  #memory: { askedAt: number; isShort: Promise<boolean> } | undefined

  constructor(options: OpenRedisOptions) {
    this.#options = options
    this.address = describeAddress(options.address)
    this.#outage = new OutageLog({ ...options, address: this.address })
    this.commands = new Redis(connectionOptions(options.address, 'commands'))
    this.commands.on('ready', () => this.#outage.recovered())
    this.commands.on('error', (error) => this.#outage.failed(error))
    this.commands.on('reconnecting', () => this.#outage.closed())
  }

  /** For another thread, which opens connections of its own. */
  get target(): RedisAddress {
    return this.#options.address
  }

  get cleanRuns(): readonly string[] {
    return this.#options.cleanRuns ?? []
  }

  /** Waits for as long as the server is away, then throws when it is not fit. */
  async untilFit(signal: AbortSignal): Promise<void> {
    await this.waitUntilReady({ signal })
    await this.checkFitness()
  }

  async checkFitness(): Promise<void> {
    checkServerInfo(await readServerInfo(this.commands), this.address)
  }

  /** Resolves when commands would be answered. Without `forMs` it waits until the signal says otherwise. */
  async waitUntilReady({ forMs, signal }: { forMs?: number; signal?: AbortSignal } = {}): Promise<void> {
    const { clock, log } = this.#options
    await waitUntilReady(this.commands, { address: this.address, clock, log, forMs, signal })
  }

  /**
   * Runs `work`, which may be repeated, before anything runs that would outlast an outage: a server that goes away
   * meanwhile, and is back in time, costs nothing but the wait.
   */
  async whileOpening<T>(work: () => Promise<T>): Promise<T> {
    const { clock, signal, openWithinMs: forMs = openWithinMs } = this.#options
    for (let outages = 1; ; outages++) {
      await this.waitUntilReady({ forMs, ...(signal ? { signal } : {}) })
      try {
        return await work()
      } catch (error) {
        if (!isConnectionFailure(error) || outages > outagesMax) throw error
      }
      // A connection may be dead for a moment before it knows.
      await clock.sleep(repeatAfterMs, signal)
    }
  }

  /**
   * A connection of the caller's own that never reconnects and never sends twice: after its first break every command
   * fails, and a new one must be opened. So no WATCH and no transaction is lost unseen. The caller disconnects it.
   */
  async openWriter(): Promise<RedisConnection> {
    const writer = new Redis(connectionOptions(this.#options.address, 'writer'))
    let reason: unknown
    writer.on('error', (error) => {
      reason = error
      this.#options.log.debug({ address: this.address, error }, 'a writer lost its connection')
    })
    try {
      await writer.connect()
      return writer
    } catch (error) {
      writer.disconnect()
      throw explainRedisFailure(reason ?? error, this.address)
    }
  }

  /** A connection for one BullMQ worker. The caller closes it. */
  openWorker(): WorkerConnection {
    return new WorkerConnection(connectionOptions(this.#options.address, 'worker'))
  }

  /** A command that fails in `work` throws an operating failure that says what to do. */
  async explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.explain(error)
    }
  }

  /** A failed command as an operating failure that says what to do; bugs come back as they are. */
  explain(error: unknown): unknown {
    const down = isConnectionFailure(error) ? this.failure : undefined
    return down ?? explainRedisFailure(error, this.address)
  }

  /** Why commands fail at present, or undefined. */
  get failure(): OperatingError | undefined {
    return this.#outage.up ? undefined : downError(this.address, this.#outage.lastError)
  }

  /** Whether Redis is so full that nothing more should be offered; asked at most four times a second. */
  isShortOfMemory(): Promise<boolean> {
    const now = this.#options.clock.monotonic()
    if (this.#memory === undefined || now - this.#memory.askedAt >= memoryKnownForMs) {
      const isShort = this.commands.info('memory').then((text) => parseServerInfo(text).isShortOfMemory)
      this.#memory = { askedAt: now, isShort }
    }
    return this.#memory.isShort
  }

  /** For `status`: never throws, and answers within two seconds even when the server is silent. */
  async state(): Promise<RedisState> {
    const { since } = this.#outage
    const asked = readServerInfo(this.commands)
    try {
      if (!(await settlesWithin(this.#options.clock, stateWithinMs, asked)))
        throw new Error('it does not answer')
      return { up: true, since, address: this.address, info: await asked }
    } catch (error) {
      return {
        up: false,
        since,
        address: this.address,
        error: describeError(this.#outage.lastError ?? error),
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeConnection(this.commands, this.#options.clock)
  }
}

type OutageOptions = Pick<OpenRedisOptions, 'log' | 'clock' | 'isQuiet'> & { address: string }

/**
 * Turns the stream of errors of reconnecting connections into one line when Redis goes away and one when it is back.
 *
 * up → (failed) → down → (recovered) → up
 */
class OutageLog {
  readonly #options: OutageOptions
  #since: number
  #up = true
  #lastError: unknown

  constructor(options: OutageOptions) {
    this.#options = options
    this.#since = options.clock.now()
  }

  get up(): boolean {
    return this.#up
  }

  /** Wall-clock ms of the last change between up and down. */
  get since(): number {
    return this.#since
  }

  get lastError(): unknown {
    return this.#lastError
  }

  failed(error: unknown): void {
    this.#lastError = error
    if (!this.#up) return
    const { log, clock, address, isQuiet } = this.#options
    this.#up = false
    this.#since = clock.now()
    log[isQuiet ? 'debug' : 'warn'](
      { address, reason: describeError(error) },
      'Redis cannot be reached; trying again',
    )
  }

  /** A server that ends in order closes its connections without an error. */
  closed(): void {
    if (this.#up) this.failed(new Error('it closed the connection'))
  }

  recovered(): void {
    if (this.#up) return
    const { log, clock, address, isQuiet } = this.#options
    const now = clock.now()
    log[isQuiet ? 'debug' : 'info']({ address, downMs: now - this.#since }, 'Redis is back')
    this.#up = true
    this.#since = now
    this.#lastError = undefined
  }
}
