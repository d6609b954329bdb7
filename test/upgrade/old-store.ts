import { writeFile } from 'node:fs/promises'
import type { Redis } from 'ioredis'
import type { ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import { openManifest } from '../../src/sources/manifest.ts'
import type { AcceptLine } from '../../src/sources/model.ts'

export const stateId = '0f6a2b0e-8f0c-4a58-9d4b-2b6a3c7f1d10'
const at = '2026-11-22T20:31:26.184Z'

/** How a product stood in the outbox of version 1. */
export type Standing =
  | 'acknowledged'
  /** Never sent. */
  | 'new'
  | 'urgent'
  | 'deferred'
  /** Bound to a call whose lease has ended. */
  | 'claimed'
  | 'echoed'
  | 'refused'
  /** One of some that were refused in a row, unnamed. */
  | 'undecided'
  /** An earlier call may have taken effect. */
  | 'doubted'
  /** Without the required fields. */
  | 'incomplete'

export interface OldProduct {
  id: string
  /** Its newest document. */
  document: Record<string, unknown>
  standing: Standing
}

/**
 * Writes what version 1 stored of the catalog `main`: its Redis keys, and the state folder of a catalog whose feed
 * `products` applied one file and holds the removals of another. Held once against what that version really stored.
 */
export async function writeOldStore(
  redis: Redis,
  dir: string,
  products: readonly OldProduct[],
): Promise<void> {
  const key = (name: string) => `catalogd:{main}:${name}`
  const batch = redis.pipeline()
  for (const product of products) writeProduct(batch, product)
  batch.set(key('origin'), stateId).set(key('writer'), 'e7:12').hset(key('counters'), 'calls', '7')
  batch.hset(key('applied'), { products: '2', '*': '3' })
  batch.hset(key('counts'), '4:added', '5')
  const held = [{ kind: 'removals', sequence: 2, file: 'b.csv', at, reason: 'many', missing: 1, of: 3 }]
  batch.hset(key('held'), 'products', JSON.stringify(held))
  batch.sadd(key('held-ids:products'), products[0]?.id ?? '')
  batch.hset(key('full-as-of'), 'products', '{"asOf":"2026-11-21"}')
  batch.hset(key('notices'), 'failed:products', JSON.stringify({ text: 'it failed', at }))
  batch.hset(key('dropped'), products[0]?.id ?? '', Buffer.alloc(16, 7))
  batch.hset(key('pause'), 'operator', JSON.stringify({ since: at, hint: 'resume' }))
  batch.hset(key('pace'), 'calls', '7').set(key('alert-mark'), 'e7 3')
  batch.sadd(key('key-fields'), 'name')
  batch.hset(key('deliveries:meta'), 'version', 'bullmq').set(key('deliveries:id'), '3')
  // What is not of products stays.
  batch.hset(key('consents:documents'), 'c', '{}')
  await batch.exec()
  await writeFile(`${dir}/id`, `${stateId}\n`)
  await writeManifest(dir)
}

function writeProduct(batch: ReturnType<Redis['pipeline']>, { id, document, standing }: OldProduct): void {
  const key = (name: string) => `catalogd:{main}:${name}`
  if (standing === 'incomplete') {
    batch.hset(key('partials'), id, JSON.stringify({ price: 5 })).hset(key('meta'), id, 'products=g')
    batch.hset(key('incomplete'), id, 'name,url').zadd(key('switches'), 9_000_000_000_000, id)
    return
  }
  const bytes = Buffer.from(JSON.stringify(document))
  const digest = digestDocument(bytes)
  const earlier = Buffer.alloc(16, 1)
  batch.hset(key('documents'), id, bytes).hset(key('meta'), id, 'products=37j')
  batch.zadd(key('key-index:name'), 0, `${document.name}\0${id}`)
  if (standing === 'acknowledged' || standing === 'echoed') batch.hset(key('acknowledged'), id, digest)
  else if (standing === 'doubted') batch.hset(key('acknowledged'), id, '')
  else if (standing !== 'new') batch.hset(key('acknowledged'), id, earlier)
  if (standing !== 'acknowledged' && standing !== 'echoed') batch.hset(key('pending'), id, digest)
  if (standing === 'urgent' || standing === 'doubted') batch.zadd(key('urgent'), 1_000, id)
  if (standing === 'new') batch.zadd(key('new'), 1_000, id)
  if (standing === 'deferred') batch.zadd(key('deferred'), 9_000_000_000_000, id)
  if (standing === 'claimed')
    batch.hset(key('claimed'), id, 'token 1000 u 900').zadd(key('leases'), 2_000, 'token')
  if (standing === 'echoed') batch.zadd(key('echoes'), 1_000, id)
  if (standing === 'undecided') batch.rpush(key('refusals'), id)
  if (standing !== 'refused' && standing !== 'undecided') return
  const letter = JSON.stringify({ reason: 'no image', status: 400, requestId: 'r-1', at })
  batch.hset(key('dead'), id, Buffer.concat([digest, Buffer.from(letter)]))
}

/** Two files and a pause, which are applied, and a file that is not. */
async function writeManifest(dir: string): Promise<void> {
  await using manifest = await openManifest({ dir, clock: systemClock })
  const accept = (claim: string) =>
    ({
      ...{ kind: 'accept', claim, feed: 'products', mode: 'full', name: `${claim}.csv`, bytes: 1 },
      ...{ asOf: at, acceptedAt: at },
    }) as AcceptLine
  await manifest.append([accept('claim-1')])
  await manifest.append([accept('claim-2')])
  await manifest.append([{ kind: 'decision', decision: 'pause', request: 'request-3', at } as never])
  await manifest.append([accept('claim-4')])
}

export const standings: readonly Standing[] = [
  ...(['acknowledged', 'new', 'urgent', 'deferred', 'claimed', 'echoed', 'refused', 'undecided'] as const),
  ...(['doubted', 'incomplete'] as const),
]

/** One of each standing in turn. */
export function oldProducts(count: number): OldProduct[] {
  return Array.from({ length: count }, (_, place) => {
    const standing = standings[place % standings.length] ?? 'acknowledged'
    const id = `${standing}-${place}` as ProductId
    return { id, standing, document: { product_id: id, name: `Pan ${place}`, price: place } }
  })
}
