import type { Redis } from 'ioredis'
import type { DeliveryConfig } from '../../src/config/model.ts'
import type { CatalogName } from '../../src/lib/brand.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import { guardFields } from '../../src/outbox/guard.ts'
import { type CatalogKeys, catalogKeys } from '../../src/outbox/keys.ts'
import type { Refusal } from '../../src/outbox/model.ts'
import { RedisOutbox } from '../../src/outbox/outbox.ts'
import { readDelivery } from '../../src/outbox/overview.ts'
import { laneCodes, OutboxScripts } from '../../src/outbox/scripts/scripts.ts'
import { ToldRedis } from '../model/real-redis.ts'
import { startRedis } from '../support/redis-server.ts'
import type { ManualClock } from './manual-clock.ts'

type Lane = 'urgent' | 'new' | 'deferred'

const owner = { mirrorId: 'm', generation: 'g', endpoint: 'https://api.example', host: 'h', folder: '/state' }

/** What the outbox held after the last operation. */
interface Seen {
  acknowledged: string[]
  dead: Map<string, Pick<Refusal, 'reason' | 'status' | 'requestId'>>
  pending: string[]
  echoes: string[]
  claimed: string[]
  leases: string[]
  pauses: Map<string, string>
  failures: number
  learned: number | undefined
}

/** The real outbox of one process on a real Redis, whose time passes only when a test says so. Offers need no mirror. */
export async function openToldOutbox(clock: ManualClock, delivery: DeliveryConfig) {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startRedis())
  const redis = stack.use(await ToldRedis.open(server.url))
  const keys = catalogKeys('main' as CatalogName)
  await redis.tell(clock.now())
  clock.onAdvance = (byMs) => redis.advance(byMs, [keys.probed, keys.probeTurn])
  await redis.connection.hset(keys.guard, 'open', '1', ...guardFields(owner, redis.runId))
  const outbox = new ToldOutbox({
    delivery,
    redis,
    keys,
    scripts: withoutGathering(await OutboxScripts.read(keys)),
    clock,
  })
  const opened = stack.move()
  return { outbox, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

interface ToldOptions {
  delivery: DeliveryConfig
  redis: ToldRedis
  keys: CatalogKeys
  scripts: OutboxScripts
  clock: ManualClock
}

class ToldOutbox extends RedisOutbox {
  readonly holds: { forMs: number; reason: string }[] = []
  readonly failureTexts: string[] = []
  readonly counted: { bodyBytes: number; products: number; answered: boolean }[] = []
  readonly #connection: Redis
  readonly #keys: CatalogKeys
  readonly #scripts: OutboxScripts
  /** The newest documents that were offered, by id. */
  readonly #documents = new Map<string, Buffer>()
  /** Operations whose outcome is not seen yet. */
  #running = 0
  #seen: Seen | undefined

  constructor({ delivery, redis, keys, scripts, clock }: ToldOptions) {
    const { connection } = redis
    super({
      ...{ connection, keys, scripts, clock, endpoint: () => owner.endpoint },
      // One slot takes whatever is due, at no rate.
      delivery: { ...delivery, concurrency: 1, callsPerSecond: 1_000_000_000 },
      deferred: { afterMs: 60_000, atMostMs: 120_000 },
    })
    this.#connection = connection
    this.#keys = keys
    this.#scripts = scripts
    this.#watch()
  }

  /** What the loop does; it is there before whatever is asked next. `lingersMs`: how long a new one waits for others. */
  offer(id: string, document: Buffer, lane: Lane = 'new', lingersMs = 0): void {
    this.#documents.set(id, document)
    this.#offer(id, { lane: laneCodes[lane], kind: 'c', lingersMs })
  }

  /** Redis belongs to another installation. */
  async shut(): Promise<void> {
    await this.#connection.hset(
      this.#keys.guard,
      guardFields({ ...owner, endpoint: 'https://other.example' }, 'run'),
    )
  }

  /** Nothing is known of any product any more. */
  clear(): void {
    const { documents, pending, new: fresh, acknowledged, dead, refusals, echoes, counters } = this.#keys
    this.#documents.clear()
    void this.#connection.del(documents, pending, fresh, acknowledged, dead, refusals, echoes, counters)
  }

  overview() {
    return readDelivery(this.#connection, this.#keys)
  }

  isOffered(id: string): boolean {
    return this.#documents.has(id)
  }

  /** No operation runs. */
  get isQuiet(): boolean {
    return this.#running === 0
  }

  async leaseEnds(): Promise<number> {
    const [, endsAt] = await this.#connection.zrange(this.#keys.leases, '0', '0', 'WITHSCORES')
    return Number(endsAt)
  }

  get acknowledged() {
    return this.#seen?.acknowledged ?? []
  }
  get dead() {
    return this.#seen?.dead ?? new Map()
  }
  get pending() {
    return this.#seen?.pending ?? []
  }
  get echoes() {
    return this.#seen?.echoes ?? []
  }
  get claimed() {
    return this.#seen?.claimed ?? []
  }
  get leases() {
    return this.#seen?.leases ?? []
  }
  get pauses() {
    return this.#seen?.pauses ?? new Map<string, string>()
  }
  get failures() {
    return this.#seen?.failures ?? 0
  }
  get learned() {
    return this.#seen?.learned
  }

  override holdCalls(...args: Parameters<RedisOutbox['holdCalls']>): Promise<void> {
    this.holds.push({ forMs: args[0], reason: args[1] })
    return super.holdCalls(...args)
  }

  override countFailure(text: string): Promise<number> {
    this.failureTexts.push(text)
    return super.countFailure(text)
  }

  override countCall(call: Parameters<RedisOutbox['countCall']>[0]): Promise<void> {
    this.counted.push(call)
    return super.countCall(call)
  }

  /** Each operation ends when its outcome is seen. */
  #watch(): void {
    const names = [
      'claim',
      'acknowledge',
      'release',
      'reject',
      'rejectUnnamed',
      'holdCalls',
      'countFailure',
      'pause',
      'resume',
      'learnBodyBytes',
      'expireClaims',
      'renew',
      'admitCall',
      'lookDue',
      'pausedFor',
      'takeProbeTurn',
      'noteProbe',
    ] as const
    for (const name of names) {
      const operate = this[name].bind(this) as (...args: unknown[]) => Promise<unknown>
      const watched = async (...args: unknown[]) => {
        this.#running += 1
        try {
          const answer = await operate(...args)
          this.#seen = await this.#look()
          return answer
        } finally {
          this.#running -= 1
        }
      }
      Object.assign(this, { [name]: watched })
    }
  }

  #offer(id: string, { lane, kind, lingersMs }: { lane: string; kind: 'c' | 'e'; lingersMs: number }): void {
    const document = this.#documents.get(id) ?? Buffer.alloc(0)
    const batch = this.#connection.multi().hset(this.#keys.documents, id, document)
    this.#scripts.append(batch, 'offer', [
      lingersMs,
      id,
      digestDocument(document),
      lane,
      kind,
      0,
      document.length,
    ])
    batch.exec().catch(() => undefined)
  }

  async #look(): Promise<Seen> {
    const keys = this.#keys
    const answers = await this.#connection
      .pipeline()
      .hgetallBuffer(keys.acknowledged)
      .hgetallBuffer(keys.dead)
      .zrange(keys.urgent, '0', '-1')
      .zrange(keys.new, '0', '-1')
      .zrange(keys.deferred, '0', '-1')
      .zrange(keys.echoes, '0', '-1')
      .zrange(keys.requests, '0', '-1')
      .hkeys(keys.claimed)
      .zrange(keys.leases, '0', '-1')
      .hgetall(keys.pause)
      .hmget(keys.pace, 'failures', 'bodyBytes')
      .exec()
    const values = (answers ?? []).map(([error, value]) => {
      if (error) throw error
      return value
    })
    const [acknowledged, dead] = values as Record<string, Buffer>[]
    const [urgent, fresh, deferred, echoes, requests, claimed, leases] = values.slice(2, 9) as string[][]
    const [pauses, pace] = values.slice(9) as [Record<string, string>, (string | null)[]]
    for (const id of requests ?? []) this.#offer(id, { lane: 'u', kind: 'e', lingersMs: 0 })
    // In the order in which they were offered.
    const inOrder = (...lists: (string[] | undefined)[]) => {
      const ids = new Set(lists.flatMap((list) => list ?? []))
      return [...this.#documents.keys()].filter((id) => ids.has(id))
    }
    const isNewest = ([id, digest]: [string, Buffer]) => {
      const newest = this.#documents.get(id)
      return newest !== undefined && digestDocument(newest).equals(digest)
    }
    return {
      acknowledged: inOrder(
        Object.entries(acknowledged ?? {})
          .filter(isNewest)
          .map(([id]) => id),
      ),
      dead: new Map(
        Object.entries(dead ?? {}).map(([id, letter]) => [id, JSON.parse(letter.subarray(16).toString())]),
      ),
      pending: inOrder(urgent, fresh, deferred),
      echoes: inOrder(echoes, requests),
      claimed: inOrder(claimed),
      leases: leases ?? [],
      pauses: new Map(Object.entries(pauses)),
      failures: Number(pace[0] ?? 0),
      learned: pace[1] == null ? undefined : Number(pace[1]),
    }
  }
}

/** Urgent changes do not wait for others to share their call. */
function withoutGathering(scripts: OutboxScripts): OutboxScripts {
  const run: OutboxScripts['run'] = (connection, name, args) =>
    scripts.run(connection, name, name === 'claim' ? args.with(9, 0) : args)
  return new Proxy(scripts, {
    get: (target, name) => {
      const value = name === 'run' ? run : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
