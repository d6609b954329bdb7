import { Redis } from 'ioredis'
import type { OutboxScripts, ScriptArgument } from '../../src/outbox/scripts/scripts.ts'
import { limits } from './state.ts'

const timeKey = 'time-of-the-test'
const realTime = "redis.call('TIME')"
const toldTime = `cjson.decode(redis.call('GET', '${timeKey}'))`

/** Everything that Redis held. */
export type RedisCopy = readonly [key: string, dump: Buffer][]

/**
 * A real Redis whose clock stands still until it is told the next time, and whose run is another one when it is told so:
 * what takes minutes takes none, and two times are equal only where the model has them equal. The scripts are the real
 * ones but for the line that asks for the time.
 */
export class ToldRedis implements AsyncDisposable {
  readonly #url: string
  readonly #connections: Redis[] = []
  readonly connection: Redis
  /** Between the reading of a portion and its offer. */
  beforeExec: (() => void) | undefined
  #run = 1
  #nowMs = 0

  private constructor(url: string) {
    this.#url = url
    this.connection = this.#make({ retryStrategy: () => 1 })
  }

  static async open(url: string): Promise<ToldRedis> {
    const redis = new ToldRedis(url)
    await redis.connection.connect()
    return redis
  }

  get nowMs(): number {
    return this.#nowMs
  }

  get runId(): string {
    return `run-${this.#run}`
  }

  /** A connection as the loop needs it: it never reconnects. */
  async connectOnce(): Promise<Redis> {
    const connection = this.#make({ retryStrategy: null, enableOfflineQueue: false })
    await connection.connect()
    return connection
  }

  async tell(nowMs: number): Promise<void> {
    this.#nowMs = nowMs
    await this.connection.set(timeKey, JSON.stringify(secondsOf(nowMs)))
  }

  /** Sent before whatever is asked next. `expiring`: keys that end by the clock of the server. */
  advance(byMs: number, expiring: readonly string[]): void {
    this.tell(this.#nowMs + byMs).catch(() => undefined)
    const script = `for _, key in ipairs(KEYS) do
        local restMs = redis.call('PTTL', key)
        if restMs > 0 then redis.call('PEXPIRE', key, restMs - ARGV[1]) end
      end`
    this.connection.eval(script, expiring.length, ...expiring, byMs).catch(() => undefined)
  }

  async copy(): Promise<RedisCopy> {
    const script = `local copy = {}
      for _, key in ipairs(redis.call('KEYS', 'catalogd*')) do
        table.insert(copy, key)
        table.insert(copy, redis.call('DUMP', key))
      end
      return copy`
    const flat = (await this.connection.callBuffer('EVAL', script, 0)) as Buffer[]
    return flat.flatMap((key, at) => (at % 2 === 0 ? [[key.toString(), flat[at + 1] as Buffer]] : []))
  }

  /** FLUSHALL; the server goes on. */
  async wipe(): Promise<void> {
    await this.connection.flushall()
    await this.tell(this.#nowMs)
  }

  /** The server ends, and begins again with this. */
  async restart(copy: RedisCopy): Promise<void> {
    const batch = this.connection.multi().flushall()
    for (const [key, dump] of copy) batch.restore(key, 0, dump)
    await batch.exec()
    await this.tell(this.#nowMs)
    this.#run++
    for (const each of this.#connections.splice(1)) each.disconnect()
    const ready = new Promise((resolve) => this.connection.once('ready', resolve))
    this.connection.disconnect(true)
    await ready
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#connections) each.disconnect()
  }

  #make(options: { retryStrategy: (() => number) | null; enableOfflineQueue?: boolean }): Redis {
    const connection = new Redis(this.#url, {
      ...{ lazyConnect: true, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
      ...options,
    })
    connection.on('error', () => undefined)
    this.#connections.push(connection)
    const { info, multi, callBuffer } = connection
    const time = async () => secondsOf(this.#nowMs)
    const ask = async (section: string) =>
      (await info.call(connection, section)).replace(/run_id:\S+/u, `run_id:${this.runId}`)
    const call = async (command: string, ...args: ScriptArgument[]) => {
      // The one that is known by its digest asks for the real time.
      if (command === 'EVALSHA') throw new Error('NOSCRIPT')
      return callBuffer.call(connection, command, ...withTime(args))
    }
    const collect = () => {
      const batch = multi.call(connection) as ReturnType<Redis['multi']>
      const add = batch.callBuffer.bind(batch)
      const execute = batch.exec.bind(batch)
      const [callInBatch, exec] = [
        (command: string, ...args: ScriptArgument[]) => add(command, ...withTime(args)),
        () => {
          this.beforeExec?.()
          return execute()
        },
      ]
      return Object.assign(batch, { callBuffer: callInBatch, exec })
    }
    return Object.assign(connection, { time, info: ask, callBuffer: call, multi: collect })
  }
}

function withTime(args: readonly ScriptArgument[]): ScriptArgument[] {
  return args.map((arg) => (typeof arg === 'string' ? arg.replace(realTime, toldTime) : arg))
}

function secondsOf(ms: number): [seconds: number, micros: number] {
  return [Math.floor(ms / 1000), (ms % 1000) * 1000]
}

/** As many refusals in a row as in the model, and nothing waits for others to share its call. */
export function eager(scripts: OutboxScripts): OutboxScripts {
  const changed = (name: string, args: readonly ScriptArgument[]) => {
    if (name === 'reject') return args.with(3, limits.refusedInARow)
    return name === 'claim' ? args.with(9, 0) : args
  }
  const run: OutboxScripts['run'] = (connection, name, args) =>
    scripts.run(connection, name, changed(name, args))
  return new Proxy(scripts, {
    get: (target, name) => {
      if (name === 'run') return run
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
