import type { Log } from '../../src/lib/log.ts'
import type { CatalogKeys } from '../../src/outbox/keys.ts'
import type { OutboxScripts } from '../../src/outbox/scripts/scripts.ts'
import type { Command } from './commands.ts'
import { RealInstallation } from './real-installation.ts'
import { eager, type RedisCopy, ToldRedis } from './real-redis.ts'
import { observeRedis } from './real-state.ts'
import { limits, second } from './state.ts'
import type { Observed, System } from './system.ts'

/** What schedules may share. */
export interface RealBox {
  /** Of a Redis. */
  url: string
  keys: CatalogKeys
  scripts: OutboxScripts
  log: Log
}

/** Two real installations of one name and their real Redis, under the model's commands. */
export class RealSystem implements System, AsyncDisposable {
  readonly #box: RealBox
  readonly #redis: ToldRedis
  readonly #installations: readonly [RealInstallation, RealInstallation]
  readonly #copies: RedisCopy[] = []
  readonly #keepsCopies: boolean
  #now = 0

  /** `keepsCopies`: Redis falls back some time. */
  static async open(
    box: RealBox,
    { file, keepsCopies }: { file: string; keepsCopies: boolean },
  ): Promise<RealSystem> {
    const redis = await ToldRedis.open(box.url)
    await redis.connection.flushall()
    return new RealSystem(box, { redis, file, keepsCopies })
  }

  private constructor(
    box: RealBox,
    { redis, file, keepsCopies }: { redis: ToldRedis; file: string; keepsCopies: boolean },
  ) {
    this.#box = box
    this.#redis = redis
    this.#keepsCopies = keepsCopies
    const world = {
      ...{ redis, keys: box.keys, scripts: eager(box.scripts), log: box.log },
      now: () => this.#now,
      nowMs: () => this.#nowMs,
      rollBack: (by: number) => this.#rollBack(by),
    }
    this.#installations = [
      new RealInstallation(world, { owner: 0, file, processes: 2 }),
      new RealInstallation(world, { owner: 1, file: `${file}.second`, processes: 1 }),
    ]
  }

  async run(command: Command): Promise<void> {
    if (command.kind === 'tick') {
      for (const each of this.#installations) each.idleTurns = 0
      this.#now += command.by * second
      await this.#redis.tell(this.#nowMs)
      for (const each of this.#installations) each.forgetOld()
      return
    }
    const installation = this.#at('at' in command ? command.at : 0)
    for (const each of this.#installations)
      if (command.kind !== 'turn' || each !== installation) each.idleTurns = 0
    // The first of them may have compared or repaired.
    const isIdle = installation.idleTurns > 1
    const last = this.#copies.at(-1)
    if (this.#keepsCopies) this.#copies.push(isIdle && last ? last : await this.#redis.copy())
    if (this.#copies.length > limits.snapshots) this.#copies.shift()
    this.#now++
    if (isIdle) return
    await this.#redis.tell(this.#nowMs)
    if (command.kind === 'wipe') await this.#redis.wipe()
    else if (command.kind === 'roll-back') await this.#rollBack(command.by)
    else if (command.kind === 'copy-beside') installation.copyFrom(this.#at(1 - command.at))
    else await installation.run(command)
  }

  wouldNotice(which: number, at: number): Promise<boolean> {
    return this.#at(at).wouldNotice(which)
  }

  /** The mirror of that installation is refused, and not open. */
  isCopy(at: number): boolean {
    return this.#at(at).isCopy
  }

  get #nowMs(): number {
    return 1_800_000_000_000 + this.#now
  }

  #at(owner: number): RealInstallation {
    return this.#installations[owner === 0 ? 0 : 1]
  }

  async #rollBack(by: number): Promise<void> {
    const copy = by === 0 ? await this.#redis.copy() : this.#copies.at(-by)
    if (!copy) return
    if (by > 0) this.#copies.length -= by - 1
    for (const each of this.#installations) each.loseConnection()
    await this.#redis.restart(copy)
  }

  async observe(): Promise<Observed> {
    const { connection, runId } = this.#redis
    const texts = new Map(this.#installations.flatMap((each) => [...each.texts]))
    const seen = { connection, keys: this.#box.keys, texts, nowMs: this.#nowMs }
    const redis = await observeRedis(seen, runId)
    return { redis, installations: this.#installations.map((each) => each.observe()) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#installations) each[Symbol.dispose]()
    await this.#redis[Symbol.asyncDispose]()
  }
}
