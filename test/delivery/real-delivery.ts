import { Redis } from 'ioredis'
import { openCatalogCalls } from '../../src/api/catalog-calls.ts'
import { productCalls } from '../../src/api/classify.ts'
import type { DeliveryConfig } from '../../src/config/model.ts'
import { openDelivery } from '../../src/delivery/worker.ts'
import type { CatalogName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import { RedisOutbox } from '../../src/outbox/outbox.ts'
import { OutboxScripts } from '../../src/outbox/scripts.ts'
import { CatalogWriter } from '../../src/outbox/writer.ts'
import { write } from '../outbox/harness.ts'
import { openQueue } from '../redis/ticket-queue.ts'
import { collectLog } from '../support/log-lines.ts'
import { startRedis } from '../support/redis-server.ts'
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
  const outbox = new RedisOutbox({ connection, keys, scripts, delivery, deferred, clock })
  const writer = stack.use(
    await CatalogWriter.open({
      connection: new Redis(server.url),
      ...{ keys, scripts, delays: { deferredAfterMs: 60_000, newAfterMs: 0 } },
    }),
  )
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
    await openDelivery({
      ...{ outbox, client, tickets: queue.tickets, config: delivery, processName: 'p1', clock, log },
      calls: productCalls,
      callLog: { begin: async () => 'call', end: async () => {} },
      progress: { expected() {}, made() {}, limited() {}, waiting: () => ({ [Symbol.dispose]() {} }) },
    }),
  )
  return {
    ...{ server, endpoint, keys, outbox, worker, lines, connection },
    async put(ids: readonly string[], lane: Lane, text = '') {
      const writes = ids.map((id) => write(id, document(id, text).toString(), lane))
      await writer.update([], () => ({ writes }))
      worker.wake()
    },
    /** Puts products that were acknowledged before, and makes them due now. */
    async putDue(lane: 'deferred' | 'echoes', ids: readonly string[]) {
      const writes = ids.map((id) => write(id, document(id).toString(), 'deferred'))
      for (const { productId, offer } of writes) {
        await connection.hset(keys.acknowledged, productId, lane === 'echoes' ? (offer?.digest ?? '') : 'x')
      }
      await writer.update([], () => ({ writes }))
      await connection.zadd(keys[lane], ...ids.flatMap((id) => ['1', id]))
    },
    pending: () => connection.hlen(keys.pending),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
