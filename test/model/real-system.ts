import type { ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { StorageError } from '../../src/lib/errors.ts'
import type { Log } from '../../src/lib/log.ts'
import { readGuard } from '../../src/outbox/guard.ts'
import type { CatalogKeys } from '../../src/outbox/keys.ts'
import { OutboxLoop } from '../../src/outbox/loop.ts'
import { RedisOutbox } from '../../src/outbox/outbox.ts'
import { readRedisState } from '../../src/outbox/redis-state.ts'
import type { OutboxScripts } from '../../src/outbox/scripts/scripts.ts'
import { diesAt, endpoint } from '../outbox/harness.ts'
import type { Command } from './commands.ts'
import { RealMirror } from './real-mirror.ts'
import { documentBytes, RealProcesses } from './real-processes.ts'
import { eager, type RedisCopy, ToldRedis } from './real-redis.ts'
import { fields, observeMirror, observeRedis } from './real-state.ts'
import { digestOf, limits, second } from './state.ts'
import type { Observed, System } from './system.ts'

const delivery = { timeoutMs: limits.timeout, horizonMs: limits.horizon }

/** What schedules may share. */
export interface RealBox {
  /** Of a Redis. */
  url: string
  keys: CatalogKeys
  scripts: OutboxScripts
  log: Log
}

type PutBack = Extract<Command, { kind: 'put-back' }>

/**
 * The real mirror, scripts and loop of one installation, with a real Redis, under the model's commands. A turn does what
 * several of the model do where Redis is repaired; the loop's single steps it cannot do.
 */
export class RealSystem implements System, AsyncDisposable {
  readonly #box: RealBox
  readonly #redis: ToldRedis
  readonly #scripts: OutboxScripts
  readonly #mirror: RealMirror
  readonly #processes: RealProcesses
  readonly #copies: RedisCopy[] = []
  readonly #keepsCopies: boolean
  #loop: OutboxLoop | undefined
  /** By the last turn: what is there does not belong together. */
  #isRefused = false
  /** Since something was done. */
  #idleTurns = 0
  #cleanRuns: string[] = []
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
    this.#scripts = eager(box.scripts)
    this.#mirror = new RealMirror(file, () => this.#nowMs)
    const outbox = new RedisOutbox({
      ...{ connection: redis.connection, keys: box.keys, scripts: this.#scripts, endpoint: () => endpoint },
      delivery: { callBytes: 2_000_000, concurrency: 1, callsPerSecond: 1_000_000_000, ...delivery },
      // However late a deferred product is, new ones go first: the model knows no other order.
      deferred: { afterMs: 60_000, atMostMs: 1e12 },
      clock: this.#clock,
    })
    this.#processes = new RealProcesses(outbox, () => this.#now)
    this.#loop = this.#openLoop()
  }

  async run(command: Command): Promise<void> {
    if (command.kind !== 'turn') this.#idleTurns = 0
    // The first of them may have compared or repaired.
    const isIdle = this.#idleTurns > 1
    if (command.kind === 'tick') {
      this.#now += command.by * second
      await this.#redis.tell(this.#nowMs)
      this.#processes.forgetOld()
      return
    }
    const last = this.#copies.at(-1)
    if (this.#keepsCopies) this.#copies.push(isIdle && last ? last : await this.#redis.copy())
    if (this.#copies.length > limits.snapshots) this.#copies.shift()
    this.#now++
    if (isIdle) return
    await this.#redis.tell(this.#nowMs)
    await this.#carryOut(command)
  }

  async #carryOut(command: Command): Promise<void> {
    const [processes, mirror] = [this.#processes, this.#mirror]
    switch (command.kind) {
      case 'edit':
        return mirror.accept(command)
      case 'import':
        return mirror.import(command.count)
      case 'turn':
        return this.#turn()
      case 'turn-with-edit':
        return this.#turnWithEdit(() => {
          mirror.accept(command)
          mirror.import(Number.POSITIVE_INFINITY)
        })
      case 'turn-that-dies':
        return this.#turnThatDies(command.after)
      case 'claim':
        // No lane has a turn before the others: the model knows none.
        await this.#redis.connection.hdel(this.#box.keys.pace, 'calls')
        return processes.claim(command.process, command.mode)
      case 'renew':
        return processes.renew(command.process, command.call)
      case 'send':
        return processes.send(command.process, command)
      case 'finish':
        return processes.finish(command.process, command)
      case 'expire':
        return processes.expire()
      case 'crash-process':
        return processes.crash(command.process)
      case 'apply':
        return processes.applyLate(command.request)
      case 'refuse-all':
        processes.endpoint.refusesAll = command.on
        return
      case 'pause': {
        const at = new Date(this.#nowMs).toISOString()
        return mirror.decide({ decision: command.on ? 'pause' : 'resume', at })
      }
      case 'resync':
        return mirror.commit({ writes: [], resend: [command.id as ProductId] })
      case 'wipe':
        return this.#redis.wipe()
      case 'roll-back':
        return this.#rollBack(command.by)
      case 'close-cleanly':
        return this.#closeCleanly(command.by)
      case 'power-cut':
        this.#restart(() => mirror.reopen())
        processes.crash(0)
        return this.#rollBack(command.by)
      case 'crash':
        return this.#restart(() => mirror.reopen())
      case 'backup':
        return mirror.backUp()
      case 'put-back':
        return this.#putBack(command)
      case 'copy-in-place':
        return this.#restart(() => mirror.replace())
      case 'adopt':
        return this.#adopt()
      default:
        throw new Error(`the real system cannot ${command.kind}`)
    }
  }

  get #nowMs(): number {
    return 1_800_000_000_000 + this.#now
  }

  get #clock() {
    return { ...systemClock, now: () => this.#nowMs }
  }

  /** Undefined where the mirror was refused. `diesAfter` so many of its notes. */
  #openLoop(diesAfter?: number): OutboxLoop | undefined {
    const { keys, log } = this.#box
    const { store } = this.#mirror
    if (!store) return undefined
    return new OutboxLoop({
      ...{ catalog: 'main', keys, scripts: this.#scripts, endpoint, log, newAfterMs: 0 },
      mirror: diesAfter === undefined ? store : diesAt(store, 'remember', diesAfter),
      place: { host: 'host-1', folder: '/state/main' },
      pendingBytes: limits.pendingPerLane * documentBytes,
      // Four calls of echoes are served at once.
      delivery: { callBytes: (limits.servedAtOnce * documentBytes) / 4, ...delivery },
      deferredAfterMs: limits.deferredAfter,
      clock: this.#clock,
      cleanRuns: this.#cleanRuns,
      connect: () => this.#redis.connectOnce(),
      onFatal: () => undefined,
    })
  }

  /** The importing process ends, and begins again. */
  #restart(meanwhile: () => void): void {
    this.#loop?.forget()
    this.#cleanRuns = []
    meanwhile()
    this.#loop = this.#openLoop()
    if (!this.#loop) this.#isRefused = true
  }

  async #turn(): Promise<void> {
    try {
      const { done } = (await this.#loop?.turn()) ?? { done: false }
      this.#idleTurns = done ? 0 : this.#idleTurns + 1
      this.#isRefused = this.#loop === undefined
    } catch (error) {
      this.#loop?.forget()
      this.#isRefused = error instanceof StorageError
    }
  }

  async #turnWithEdit(commit: () => void): Promise<void> {
    this.#redis.beforeExec = () => {
      this.#redis.beforeExec = undefined
      commit()
    }
    await this.#turn()
    this.#redis.beforeExec?.()
    this.#idleTurns = 0
  }

  async #turnThatDies(after: number): Promise<void> {
    this.#loop?.forget()
    const loop = this.#openLoop(after)
    await loop?.turn().catch(() => undefined)
    loop?.forget()
    this.#restart(() => this.#mirror.reopen())
  }

  async #rollBack(by: number): Promise<void> {
    const copy = by === 0 ? await this.#redis.copy() : this.#copies.at(-by)
    if (!copy) return
    if (by > 0) this.#copies.length -= by - 1
    this.#loop?.forget()
    this.#cleanRuns = []
    await this.#redis.restart(copy)
  }

  /** Only where Redis and the mirror are known to belong together. */
  async #closeCleanly(by: number): Promise<void> {
    const { runId } = this.#redis
    const guard = await readGuard(this.#redis.connection, this.#box.keys)
    const known = this.#mirror.store?.readIdentity().runId
    if (this.#isRefused || !guard?.isOpen || guard.runId !== runId || known !== runId) return
    await this.#loop?.[Symbol.asyncDispose]()
    await this.#rollBack(by)
    this.#cleanRuns = [runId]
    this.#loop = this.#openLoop()
  }

  async #putBack({ which, how }: PutBack): Promise<void> {
    const backup = this.#mirror.backupAt(which)
    if (!backup) return
    this.#restart(() => {
      this.#mirror.putBack(backup, how)
      if (how === 'restored') this.#mirror.startOver({})
    })
  }

  async wouldNotice(which: number): Promise<boolean> {
    const backup = this.#mirror.backupAt(which)
    const { connection, runId } = this.#redis
    if (!backup) return false
    const state = await readRedisState({ connection, keys: this.#box.keys })
    await connection.unwatch()
    return state.guard?.runId === runId && this.#mirror.isBehind(state, backup)
  }

  async #adopt(): Promise<void> {
    if (!this.#isRefused) return
    const guard = await readGuard(this.#redis.connection, this.#box.keys)
    this.#restart(() => this.#mirror.startOver({ endpoint, former: guard ? [guard.generation] : [] }))
    this.#isRefused = false
  }

  async observe(): Promise<Observed> {
    const { products } = this.#processes.endpoint
    const endpoint = fields([...products].map(([id, document]) => [id, digestOf(document)]))
    const { file, texts, applied } = this.#mirror
    const seen = { connection: this.#redis.connection, keys: this.#box.keys, file, texts, nowMs: this.#nowMs }
    const mirror = { ...observeMirror(seen), applied }
    const redis = await observeRedis(seen, this.#redis.runId)
    return { redis, installations: [{ mirror, endpoint, isRefused: this.#isRefused }] }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#loop?.forget()
    this.#mirror[Symbol.dispose]()
    await this.#redis[Symbol.asyncDispose]()
  }
}
