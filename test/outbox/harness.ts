import { Redis } from 'ioredis'
import type { CatalogName, ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { digestDocument } from '../../src/outbox/digest.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import type { Claim, ClaimMode, ProductWrite } from '../../src/outbox/model.ts'
import { RedisOutbox } from '../../src/outbox/outbox.ts'
import { OutboxScripts } from '../../src/outbox/scripts.ts'
import { CatalogWriter } from '../../src/outbox/writer.ts'
import { waitFor } from '../support/events.ts'
import { startRedis } from '../support/redis-server.ts'

const delivery = {
  callBytes: 2_000_000,
  /** One slot serves all lanes. */
  concurrency: 1,
  timeoutMs: 30_000,
  horizonMs: 120_000,
  /** So many that none waits for the one before, even within a millisecond. */
  callsPerSecond: 1_000_000_000,
}

/** A real redis-server with one catalog's writer and outbox on it. */
export async function openHarness(options: { callsPerSecond?: number; concurrency?: number } = {}) {
  const server = await startRedis()
  const keys = catalogKeys('main' as CatalogName)
  const scripts = await OutboxScripts.read(keys)
  const connection = new Redis(server.url)
  const writerConnections: Redis[] = []
  const openWriter = () => {
    const own = new Redis(server.url)
    writerConnections.push(own)
    return CatalogWriter.open({
      connection: own,
      keys,
      scripts,
      delays: { deferredAfterMs: 60_000, newAfterMs: 0 },
    })
  }
  const outbox = new RedisOutbox({
    connection,
    keys,
    scripts,
    delivery: { ...delivery, ...options },
    deferred: { afterMs: 60_000, atMostMs: 120_000 },
    clock: systemClock,
  })
  const writer = await openWriter()
  return {
    server,
    keys,
    connection,
    outbox,
    writer,
    openWriter,
    /** Makes a deferred product or an echo due now. */
    makeDue: (lane: 'deferred' | 'echoes', id: string) => connection.zadd(keys[lane], 1, id),
    async put(id: string, text: string, lane: 'urgent' | 'new' | 'deferred' = 'new') {
      await writer.update([id as ProductId], () => ({ writes: [write(id, text, lane)] }))
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
    lanesOf: async (id: string) => {
      const lanes = ['urgent', 'new', 'deferred', 'echoes'] as const
      const scores = await Promise.all(lanes.map((lane) => connection.zscore(keys[lane], id)))
      return lanes.filter((_, index) => scores[index] !== null)
    },
    async [Symbol.asyncDispose]() {
      await writer[Symbol.asyncDispose]()
      for (const each of writerConnections) each.disconnect()
      connection.disconnect()
      await server[Symbol.asyncDispose]()
    },
  }
}

export type Harness = Awaited<ReturnType<typeof openHarness>>

export function write(id: string, text: string, lane: 'urgent' | 'new' | 'deferred'): ProductWrite {
  const document = Buffer.from(text)
  return {
    productId: id as ProductId,
    document,
    partial: undefined,
    meta: 'm',
    incomplete: undefined,
    offer: { digest: digestDocument(document), lane },
  }
}

export function idsOf(claim: Claim): string[] {
  return claim.products.map((product) => product.productId)
}
