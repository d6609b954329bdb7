import type { Clock } from '../lib/clock.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { limitFields } from './follow-calls.ts'
import type { CatalogKeys } from './keys.ts'
import { type PauseReason, probedForMs } from './model.ts'
import type { OutboxScripts, SmallWrite } from './scripts/scripts.ts'

export interface PaceOptions {
  connection: RedisConnection
  keys: CatalogKeys
  scripts: OutboxScripts
  clock: Clock
}

/** Whether calls of any process may begin: what failed, what is held and paused, and who probes. All methods are safe to repeat. */
export class OutboxPace {
  protected readonly connection: RedisConnection
  protected readonly keys: CatalogKeys
  protected readonly scripts: OutboxScripts
  protected readonly clock: Clock

  constructor({ connection, keys, scripts, clock }: PaceOptions) {
    this.connection = connection
    this.keys = keys
    this.scripts = scripts
    this.clock = clock
  }

  /** No call of any process starts before so many ms have passed (Retry-After, back-off). Never shortens a wait. */
  async holdCalls(forMs: number, reason: 'throttled' | 'failing'): Promise<void> {
    await this.scripts.run(this.connection, 'hold', [Math.ceil(forMs), reason])
  }

  /** Consecutive failed calls, counting this one; `acknowledge` resets it. */
  async countFailure(description: string): Promise<number> {
    const failures = await this.#write('pace', ['HINCRBY', 'failures', 1])
    const lastFailure = JSON.stringify({ at: this.now(), text: description })
    await this.#write('pace', ['HSET', 'lastFailure', lastFailure])
    return Number(failures)
  }

  /** Adds one request to the counters that `status` and `load` show. `answered`: a response arrived, whatever it said. */
  async countCall(call: { bodyBytes: number; products: number; answered: boolean }): Promise<void> {
    await this.connection
      .pipeline()
      .hincrby(this.keys.counters, 'calls', 1)
      .hincrby(this.keys.counters, 'bytes', call.bodyBytes)
      .hincrby(this.keys.counters, 'products', call.products)
      .hincrby(this.keys.counters, 'unanswered', call.answered ? 0 : 1)
      .exec()
  }

  async pause(reason: PauseReason, hint: string): Promise<void> {
    await this.#write('pause', ['HSETNX', reason, JSON.stringify({ since: this.now(), hint })])
  }

  /**
   * `probed`: a probe showed that the credentials are taken; a 403 soon after refuses content. `tried`: it showed only
   * that something else is wrong now. `operator`: a learned limit of bytes is forgotten, too. `by`: the process.
   */
  async resume(reason: PauseReason, how: 'probed' | 'tried' | 'operator', by = ''): Promise<void> {
    if (how === 'probed') await this.#write('probed', ['SET', by, 'PX', probedForMs])
    if (how === 'operator') await this.connection.hdel(this.keys.pace, ...limitFields)
    await this.connection.hdel(this.keys.pause, reason)
  }

  /** Empty: calls may be made. */
  async pausedFor(): Promise<PauseReason[]> {
    return (await this.connection.hkeys(this.keys.pause)) as PauseReason[]
  }

  /** True for one caller at a time, for so long: who probes. `at-once`: whoever had the turn; nobody else gets it for so long. */
  async takeProbeTurn(forMs: number, how: 'in-turn' | 'at-once' = 'in-turn'): Promise<boolean> {
    const taken = ['SET', '1', 'PX', forMs, ...(how === 'in-turn' ? ['NX'] : [])] as const
    return String(await this.#write('probeTurn', taken)) === 'OK'
  }

  /** A probe did not resume. `hint`: what its answer says of the credentials, and what to do, in place of what was said before. */
  async noteProbe(hint: string | undefined): Promise<void> {
    await this.#write('pace', ['HSET', 'tried', JSON.stringify({ at: this.now(), hint })])
  }

  /** Within a minute of `resume(…, 'probed')`: by which process. */
  async recentlyProbedBy(): Promise<string | undefined> {
    return (await this.connection.get(this.keys.probed)) ?? undefined
  }

  protected now(): string {
    return new Date(this.clock.now()).toISOString()
  }

  #write(...write: SmallWrite): Promise<unknown> {
    return this.scripts.write(this.connection, ...write)
  }
}
