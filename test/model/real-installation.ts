import type { ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { StorageError } from '../../src/lib/errors.ts'
import type { Log } from '../../src/lib/log.ts'
import type { DocumentReader } from '../../src/outbox/fit-documents.ts'
import { readGuard } from '../../src/outbox/guard.ts'
import type { CatalogKeys } from '../../src/outbox/keys.ts'
import { OutboxLoop } from '../../src/outbox/loop.ts'
import { RedisOutbox } from '../../src/outbox/outbox.ts'
import { readRedisState } from '../../src/outbox/redis-state.ts'
import type { OutboxScripts } from '../../src/outbox/scripts/scripts.ts'
import { diesAt } from '../outbox/harness.ts'
import type { Command } from './commands.ts'
import { RealMirror } from './real-mirror.ts'
import { documentBytes, RealProcesses } from './real-processes.ts'
import type { ToldRedis } from './real-redis.ts'
import { fields, observeMirror } from './real-state.ts'
import { digestOf, limits } from './state.ts'
import type { Observed } from './system.ts'

const delivery = { timeoutMs: limits.timeout, horizonMs: limits.horizon }

/** What all installations share. */
export interface RealWorld {
  redis: ToldRedis
  keys: CatalogKeys
  scripts: OutboxScripts
  log: Log
  /** As in the model. */
  now: () => number
  nowMs: () => number
  /** Redis ends, and begins again as it was so many commands ago. */
  rollBack: (by: number) => Promise<void>
}

interface InstallationOptions {
  owner: number
  file: string
  processes: number
}

/** Commands of one installation. */
export type OwnCommand = Extract<Command, { at: number }>
type PutBack = Extract<Command, { kind: 'put-back' }>

/**
 * The real mirror, loop and outbox of one installation under the model's commands. A turn does what several of the model
 * do where Redis is repaired; the loop's single steps it cannot do.
 */
export class RealInstallation implements Disposable {
  readonly #world: RealWorld
  readonly #mirror: RealMirror
  readonly #processes: RealProcesses
  readonly #host: string
  readonly #endpoint: string
  /** Undefined: it was refused, and ends until the process begins again. */
  #loop: OutboxLoop | undefined
  /** By the last turn: what is there does not belong together. */
  #isRefused = false
  #isCompared = false
  /** Since something was done. */
  idleTurns = 0
  #cleanRuns: string[] = []

  constructor(world: RealWorld, { owner, file, processes }: InstallationOptions) {
    this.#world = world
    this.#host = `host-${owner}`
    this.#endpoint = `https://api-${owner}.example`
    this.#mirror = new RealMirror({ file, owner, nowMs: world.nowMs })
    const openOutbox = (mirror: () => DocumentReader | undefined) =>
      new RedisOutbox({
        ...{ connection: world.redis.connection, keys: world.keys, scripts: world.scripts, mirror },
        endpoint: () => this.#endpoint,
        delivery: { callBytes: 2_000_000, concurrency: 1, callsPerSecond: 1_000_000_000, ...delivery },
        // However late a deferred product is, new ones go first: the model knows no other order.
        deferred: { afterMs: 60_000, atMostMs: 1e12 },
        clock: this.#clock,
      })
    const ofMirror = openOutbox(() => (this.#isCompared ? this.#mirror : undefined))
    const outboxes = [openOutbox(() => undefined), ofMirror] as const
    this.#processes = new RealProcesses(outboxes, { count: processes, now: world.now })
    this.#loop = this.#openLoop()
  }

  async run(command: OwnCommand): Promise<void> {
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
        await this.#world.redis.connection.hdel(this.#world.keys.pace, 'calls')
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
        const at = new Date(this.#world.nowMs()).toISOString()
        return mirror.decide({ decision: command.on ? 'pause' : 'resume', at })
      }
      case 'resync':
        return mirror.commit({ writes: [], resend: [command.id as ProductId] })
      case 'close-cleanly':
        return this.#closeCleanly(command.by)
      case 'power-cut':
        this.#restart(() => mirror.reopen())
        processes.crash(0)
        return this.#world.rollBack(command.by)
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

  get isCopy(): boolean {
    return this.#mirror.store === undefined
  }

  /** The state folder of another installation is copied in place of this one's. */
  copyFrom(other: RealInstallation): void {
    this.#restart(() => this.#mirror.copyFrom(other.#mirror))
  }

  /** Redis begins again. */
  loseConnection(): void {
    this.#loop?.forget()
    this.#cleanRuns = []
  }

  forgetOld(): void {
    this.#processes.forgetOld()
  }

  get #clock() {
    return { ...systemClock, now: () => this.#world.nowMs() }
  }

  /** Undefined where the mirror was refused. `diesAfter` so many of its notes. */
  #openLoop(diesAfter?: number): OutboxLoop | undefined {
    const { keys, log, scripts, redis } = this.#world
    const { store } = this.#mirror
    if (!store) return undefined
    return new OutboxLoop({
      ...{ catalog: 'main', keys, scripts, endpoint: this.#endpoint, log, newAfterMs: 0 },
      // The model knows no time that passes in the midst of work.
      drainAfterMs: 0,
      // Drains are walks and scans in turn.
      walkFrom: 1,
      mirror: diesAfter === undefined ? store : diesAt(store, 'remember', diesAfter),
      place: { host: this.#host, folder: '/state/main' },
      pendingBytes: limits.pendingPerLane * documentBytes,
      // Four calls of echoes are served at once.
      delivery: { callBytes: (limits.servedAtOnce * documentBytes) / 4, ...delivery },
      deferredAfterMs: limits.deferredAfter,
      clock: this.#clock,
      cleanRuns: this.#cleanRuns,
      connect: () => redis.connectOnce(),
      onCompared: () => this.#mayRead(),
      onFatal: () => undefined,
    })
  }

  #mayRead(): void {
    this.#isCompared = true
  }

  /** The importing process ends, and begins again. */
  #restart(meanwhile: () => void): void {
    this.loseConnection()
    meanwhile()
    this.#isCompared = false
    this.#loop = this.#openLoop()
    this.#isRefused = this.#loop === undefined
  }

  async #turn(): Promise<void> {
    const { redis, keys } = this.#world
    // Nobody waits for another one of the same mirror to end: the model knows no such lease.
    await redis.connection.hdel(keys.guard, 'leaseEnds')
    try {
      const { done } = (await this.#loop?.turn()) ?? { done: false }
      this.idleTurns = done ? 0 : this.idleTurns + 1
    } catch (error) {
      this.#loop?.forget()
      if (!(error instanceof StorageError)) return
      this.#loop = undefined
      this.#isCompared = false
      this.#isRefused = true
    }
  }

  async #turnWithEdit(commit: () => void): Promise<void> {
    const { redis } = this.#world
    redis.beforeExec = () => {
      redis.beforeExec = undefined
      commit()
    }
    await this.#turn()
    redis.beforeExec?.()
    this.idleTurns = 0
  }

  async #turnThatDies(after: number): Promise<void> {
    this.#loop?.forget()
    const loop = this.#openLoop(after)
    await loop?.turn().catch(() => undefined)
    loop?.forget()
    this.#restart(() => this.#mirror.reopen())
  }

  /** Only where Redis and the mirror are known to belong together. */
  async #closeCleanly(by: number): Promise<void> {
    const { runId } = this.#world.redis
    const guard = await this.#readGuard()
    const identity = this.#mirror.store?.readIdentity()
    const isOurs = guard?.isOpen && guard.runId === runId && guard.generation === identity?.generation
    if (this.#isRefused || !isOurs || identity?.runId !== runId) return
    await this.#loop?.[Symbol.asyncDispose]()
    await this.#world.rollBack(by)
    this.#cleanRuns = [runId]
    this.#loop = this.#openLoop()
  }

  #putBack({ which, how }: PutBack): void {
    const backup = this.#mirror.backupAt(which)
    if (!backup) return
    this.#restart(() => {
      this.#mirror.putBack(backup, how)
      if (how === 'restored') this.#mirror.startOver({})
    })
  }

  async wouldNotice(which: number): Promise<boolean> {
    const backup = this.#mirror.backupAt(which)
    const { connection, runId } = this.#world.redis
    if (!backup) return false
    const state = await readRedisState({ connection, keys: this.#world.keys })
    await connection.unwatch()
    return state.guard?.runId === runId && this.#mirror.isBehind(state, backup)
  }

  async #adopt(): Promise<void> {
    const guard = await this.#readGuard()
    // The operator renames a catalog rather than take another one's keys.
    if (!this.#isRefused || (guard && guard.host !== this.#host)) return
    this.#restart(() =>
      this.#mirror.startOver({ endpoint: this.#endpoint, former: guard ? [guard.generation] : [] }),
    )
  }

  #readGuard() {
    return readGuard(this.#world.redis.connection, this.#world.keys)
  }

  observe(): Observed['installations'][number] {
    const { products } = this.#processes.endpoint
    const endpoint = fields([...products].map(([id, document]) => [id, digestOf(document)]))
    const { file, texts, applied, toldWhenOpened } = this.#mirror
    const told = toldWhenOpened && { isPaused: toldWhenOpened.decision === 'pause' }
    const mirror = { ...observeMirror({ file, texts, nowMs: this.#world.nowMs() }), applied, ...told }
    return { mirror, endpoint, isRefused: this.#isRefused }
  }

  /** Of documents, by their digests in hex. */
  get texts(): ReadonlyMap<string, string> {
    return this.#mirror.texts
  }

  [Symbol.dispose](): void {
    this.#loop?.forget()
    this.#mirror[Symbol.dispose]()
  }
}
