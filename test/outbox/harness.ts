import { DatabaseSync } from 'node:sqlite'
import { Redis } from 'ioredis'
import type { CatalogName, ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type { MirrorChunk, ProductWrite } from '../../src/mirror/model.ts'
import { NewProducts } from '../../src/mirror/new-products.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import type { DocumentReader } from '../../src/outbox/fit-documents.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import { type LoopOptions, OutboxLoop } from '../../src/outbox/loop.ts'
import type { Claim, ClaimMode } from '../../src/outbox/model.ts'
import { RedisOutbox, type RedisOutboxOptions } from '../../src/outbox/outbox.ts'
import { OutboxScripts } from '../../src/outbox/scripts/scripts.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { type RedisServerOptions, startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'

const delivery = {
  callBytes: 2_000_000,
  /** One slot serves all lanes. */
  concurrency: 1,
  timeoutMs: 30_000,
  horizonMs: 120_000,
  /** So many that none waits for the one before, even within a millisecond. */
  callsPerSecond: 1_000_000_000,
}
export const endpoint = 'https://api.example'
export const deferred = { afterMs: 60_000, atMostMs: 120_000 }

interface HarnessOptions {
  callsPerSecond?: number
  callBytes?: number
  concurrency?: number
  pendingBytes?: number
  newAfterMs?: number
  walkFrom?: number
  redis?: RedisServerOptions
  /** The process that imports delivers, too: it reads documents in its mirror, and takes new products from it. */
  delivers?: boolean
}

/** A real redis-server and a real mirror of one catalog, the loop between them, and the outbox of one process. */
export async function openHarness(options: HarnessOptions = {}) {
  const { redis, pendingBytes = 1_000_000_000, newAfterMs = 0, walkFrom = 20_000, ...others } = options
  const { delivers = false, ...pace } = others
  const stack = new AsyncDisposableStack()
  const server = stack.use(await startRedis(redis))
  const dir = stack.use(await tempDir('outbox'))
  let file = dir.join('catalog.db')
  let fresh = 0
  const keys = catalogKeys('main' as CatalogName)
  const scripts = await OutboxScripts.read(keys)
  // As a process has it: nothing is kept for later or sent twice.
  const connection = new Redis(server.url, {
    ...{ maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
    retryStrategy: () => 50,
  })
  connection.on('error', () => undefined)
  stack.defer(() => connection.disconnect())
  const { log, lines } = collectLog()
  const fatal: unknown[] = []
  const openNewProducts = () => new NewProducts((request) => box.mirror.newCalls.ask(request))
  const box = { mirror: MirrorStore.open({ file, isExpected: false }), newProducts: openNewProducts() }
  const reader: DocumentReader = {
    readDocuments: (ids) => box.mirror.readDocuments(ids),
    get newProducts() {
      return box.newProducts
    },
  }
  stack.defer(() => box.mirror[Symbol.dispose]())
  const openOutbox = (changes: Partial<RedisOutboxOptions> = {}, Outbox = RedisOutbox) =>
    new Outbox({
      ...{ connection, keys, scripts, deferred, clock: systemClock, delivery: { ...delivery, ...pace } },
      ...{ endpoint: () => endpoint, ...(delivers && { mirror: () => reader }), ...changes },
    })
  /** The loop of the process that imports; its turns are made one by one. */
  const openLoop = (changes: Partial<LoopOptions> = {}, Loop = OutboxLoop) => {
    const loop = new Loop({
      ...{ drainAfterMs: 1_000, walkFrom },
      ...{ catalog: 'main', keys, scripts, mirror: box.mirror, endpoint, delivery, pendingBytes, newAfterMs },
      place: { host: 'host-1', folder: '/state/main' },
      deferredAfterMs: deferred.afterMs,
      ...{ clock: systemClock, log, onFatal: (error: unknown) => void fatal.push(error) },
      connect: () => openOnce(server.url),
      ...(delivers && { isDelivering: true, onNewCalls: (answer) => box.newProducts.receive(answer) }),
      ...changes,
    })
    stack.defer(() => loop[Symbol.asyncDispose]())
    return loop
  }
  let loop = openLoop()
  let outbox = openOutbox()
  return {
    ...{ server, keys, scripts, connection, openOutbox, openLoop, lines, fatal, box },
    get outbox() {
      return outbox
    },
    get loop() {
      return loop
    },
    get mirror() {
      return box.mirror
    },
    get file() {
      return file
    },
    /** As after the end of the process. */
    reopenMirror() {
      box.mirror[Symbol.dispose]()
      box.mirror = MirrorStore.open({ file, isExpected: true })
    },
    /** The process is killed, and another one begins. */
    restart() {
      loop.forget()
      this.reopenMirror()
      box.newProducts = openNewProducts()
      outbox = openOutbox()
      loop = openLoop()
    },
    /** Nothing was ever imported. */
    freshMirror() {
      box.mirror[Symbol.dispose]()
      fresh += 1
      file = dir.join(`catalog-${fresh}.db`)
      box.mirror = MirrorStore.open({ file, isExpected: false })
      box.newProducts = openNewProducts()
      loop = openLoop()
      return loop
    },
    /** Turns until nothing is left to do. */
    async settle(settled = loop) {
      while ((await settled.turn()).done);
    },
    /** An echo is due, has asked for its document, and got it. */
    async makeEchoDue(id: string) {
      await connection.multi().zrem(keys.echoes, id).zadd(keys.requests, 1, id).exec()
      await this.settle()
    },
    /** Of the mirror: products that are unsent. */
    places: () => placesIn(file),
    deadIds: () => deadIn(file),
    digestOf: (text: string) => digestDocument(Buffer.from(text)),
    /** Durable in the mirror, but not offered. `dueMs` ago where it is deferred. */
    commit(id: string, text: string, lane: Lane = 'new', agoMs = 0) {
      this.commitAll([write(id, text, lane)], agoMs)
    },
    commitAll(writes: ProductWrite[], agoMs = 0) {
      this.commitChunk({ writes }, agoMs)
    },
    commitChunk(given: MirrorChunk, agoMs = 0, options: Parameters<MirrorStore['commit']>[2] = {}) {
      const chunks = [given]
      box.mirror.commit(() => chunks.pop(), Date.now() - agoMs, options)
    },
    async put(id: string, text: string, lane: Lane = 'new', agoMs = 0) {
      this.commit(id, text, lane, agoMs)
      await this.settle()
    },
    /** A deferred change that is due. */
    async putDue(id: string, text: string) {
      await this.put(id, text, 'deferred', deferred.afterMs)
    },
    async claim(mode: ClaimMode = 'any', bodyBytesMax = 2_000_000): Promise<Claim> {
      const answer = await waitFor(async () => {
        const asked = await outbox.claim({ mode, bodyBytesMax })
        // Urgent changes may wait a moment for others, to share a call.
        const gathers = asked.kind === 'wait' && asked.calls === undefined && asked.forMs <= 20
        return gathers ? undefined : asked
      })
      if (answer.kind !== 'claimed') throw new Error(`expected a claim, got ${JSON.stringify(answer)}`)
      return answer.claim
    },
    /** Claims what is due, has it taken, and drains. */
    async deliver(mode: ClaimMode = 'any', bodyBytesMax = 2_000_000): Promise<Claim> {
      const claim = await this.claim(mode, bodyBytesMax)
      await outbox.acknowledge(claim.token, claim.products)
      await this.settle()
      return claim
    },
    /** Where Redis holds the product. */
    lanesOf: async (id: string) => {
      const lanes = ['urgent', 'new', 'deferred', 'echoes', 'requests'] as const
      const scores = await Promise.all(lanes.map((lane) => connection.zscore(keys[lane], id)))
      return lanes.filter((_, index) => scores[index] !== null)
    },
    /** Keys that hold something of products. */
    async remains(): Promise<string[]> {
      const lasting = [keys.guard, keys.beat, keys.positions, keys.pace, keys.counters, keys.bytes]
      const all = await connection.keys('*')
      return all.filter((key) => !lasting.includes(key)).sort()
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export type Harness = Awaited<ReturnType<typeof openHarness>>
type Lane = 'urgent' | 'new' | 'deferred'

/** A connection as the loop needs it. */
export async function openOnce(url: string): Promise<Redis> {
  const connection = new Redis(url, {
    ...{ lazyConnect: true, retryStrategy: null, enableOfflineQueue: false, maxRetriesPerRequest: 0 },
    autoResendUnfulfilledCommands: false,
  })
  connection.on('error', () => undefined)
  await connection.connect()
  return connection
}

/** Read by a connection of its own: only what is durable is there. */
function placesIn(file: string) {
  using database = new DatabaseSync(file, { readOnly: true })
  const sql = `SELECT p.id, s.lane, s.number FROM sending s JOIN products p ON p.key = s.product
    WHERE s.lane IS NOT NULL ORDER BY p.id`
  return database.prepare(sql).all() as { id: string; lane: number; number: number | null }[]
}

function deadIn(file: string): string[] {
  using database = new DatabaseSync(file, { readOnly: true })
  const sql = 'SELECT p.id FROM dead d JOIN products p ON p.key = d.product ORDER BY p.id'
  return database
    .prepare(sql)
    .all()
    .map(({ id }) => String(id))
}

export function write(id: string, text: string, lane: Lane): ProductWrite {
  const document = Buffer.from(text)
  return {
    productId: id as ProductId,
    document,
    partial: undefined,
    meta: 'm',
    incomplete: undefined,
    lane,
  }
}

export function idsOf(claim: Claim): string[] {
  return claim.products.map((product) => product.productId)
}

/** The same mirror, whose process ends at the n-th call of one method: it is not carried out, and nothing after it. */
export function diesAt(mirror: MirrorStore, method: keyof MirrorStore, at: number): MirrorStore {
  let calls = 0
  let isDead = false
  return new Proxy(mirror, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name === method) calls += 1
        if (isDead || calls === at) {
          isDead = true
          throw new Error('the process ends here')
        }
        return value.apply(target, args)
      }
    },
  })
}
