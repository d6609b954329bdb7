import { openCatalogCalls } from '../../src/api/catalog-calls.ts'
import { productCalls } from '../../src/api/classify.ts'
import type { DeliveryConfig } from '../../src/config/model.ts'
import { Delivery } from '../../src/delivery/worker.ts'
import type { CatalogName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type { ProductWrite } from '../../src/mirror/model.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import { OutboxLoop } from '../../src/outbox/loop.ts'
import { RedisOutbox } from '../../src/outbox/outbox.ts'
import { OutboxScripts } from '../../src/outbox/scripts/scripts.ts'
import { endpoint as endpointName, openOnce, write } from '../outbox/harness.ts'
import { openQueue } from '../redis/ticket-queue.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { openEndpoint, type Script } from './endpoint.ts'
import { config, document } from './harness.ts'

export type Lane = 'urgent' | 'new' | 'deferred'

/** One process's delivery as it runs: a real redis-server, BullMQ's tickets, a real HTTP server. */
export async function openRealDelivery(overrides: Partial<DeliveryConfig> = {}, script?: Script) {
  const stack = new AsyncDisposableStack()
  const server = stack.use(await startRedis())
  const endpoint = stack.use(await openEndpoint(script))
  const queue = stack.use(await openQueue(server))
  const clock = systemClock
  const keys = catalogKeys('main' as CatalogName)
  const scripts = await OutboxScripts.read(keys)
  const delivery = { ...config, ...overrides }
  const connection = queue.connections.commands
  const deferred = { afterMs: 60_000, atMostMs: 120_000 }
  const outbox = new RedisOutbox({
    ...{ connection, keys, scripts, delivery, deferred, clock, endpoint: () => endpointName },
  })
  const dir = stack.use(await tempDir('delivery'))
  const mirror = stack.use(MirrorStore.open({ file: dir.join('catalog.db'), isExpected: false }))
  const reader = stack.use(new MirrorReader(dir.join('catalog.db')))
  let wake: Delivery['wake'] = () => {}
  const loop = stack.use(
    new OutboxLoop({
      ...{ catalog: 'main', keys, scripts, mirror, endpoint: endpointName, delivery, clock },
      ...{
        deferredAfterMs: 60_000,
        newAfterMs: 0,
        drainAfterMs: 0,
        pendingBytes: 256_000_000,
        log: collectLog().log,
      },
      place: { host: 'host', folder: '/state/main' },
      connect: () => openOnce(server.url),
      onOffered: (offered) => wake(offered),
      onFatal: (error) => {
        throw error
      },
    }),
  )
  await loop.start()
  // Opening the empty Redis is a repair, which would take what tests put there.
  await waitFor(async () => (await connection.hget(keys.guard, 'open')) === '1', { withinMs: 120_000 })
  const commit = (writes: ProductWrite[], agoMs = 0) => {
    let chunk: { writes: ProductWrite[] } | undefined = { writes }
    mirror.commit(() => {
      const next = chunk
      chunk = undefined
      return next
    }, Date.now() - agoMs)
    loop.wake()
  }
  const client = stack.use(
    openCatalogCalls({
      url: () => endpoint.url,
      token: () => 'right',
      timeoutMs: delivery.timeoutMs,
      connections: delivery.concurrency + 1,
      bodyBytesMax: delivery.callBytes,
      version: '0.0.0',
    }),
  )
  const { log, lines } = collectLog()
  const worker = stack.use(
    new Delivery({
      ...{ outbox, client, tickets: queue.tickets, config: delivery, processName: 'p1', clock, log },
      calls: productCalls,
      callLog: { begin: async () => 'call', end: async () => {} },
      progress: { expected() {}, made() {}, limited() {}, waiting: () => ({ [Symbol.dispose]() {} }) },
    }),
  )
  wake = (offered) => worker.wake(offered)
  return {
    ...{ server, endpoint, keys, outbox, worker, lines, connection },
    async put(ids: readonly string[], lane: Lane, text = '') {
      commit(ids.map((id) => write(id, document(id, text).toString(), lane)))
    },
    /** Makes products that were acknowledged before due now. */
    async putDue(lane: 'deferred' | 'echoes', ids: readonly string[]) {
      const before = ids.map((id) => write(id, document(id, 'before').toString(), 'new'))
      // As if it had been offered, so that none of them is.
      const { last } = mirror.readIdentity()
      await connection.hset(keys.positions, 'new', last.new + ids.length)
      commit(before)
      const acknowledged = before.map(({ productId, document: sent }) => {
        return { productId, digest: sent && digestDocument(sent), held: lane === 'echoes' }
      })
      mirror.drain({ acknowledged, positions: mirror.readIdentity().last }, Date.now())
      if (lane === 'echoes') {
        await connection.zadd(keys.requests, ...ids.flatMap((id) => [1, id]))
      } else {
        commit(
          ids.map((id) => write(id, document(id).toString(), 'deferred')),
          deferred.afterMs,
        )
      }
    },
    /** Products that are unsent, dead letters included. */
    pending: () => {
      const { dead, places, repeats } = reader.count()
      return dead + repeats + places.urgent.waiting + places.new.waiting + places.deferred.waiting
    },
    dead: () => reader.deadLetters().map(({ productId }) => productId),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
