import type { DeliveryConfig } from '../config/model.ts'
import type { ProductId } from '../lib/brand.ts'
import { type RedisConnection, readRedisTime } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import { leaseMs, newAfterMs, probedForMs, probeEveryMsMax } from './model.ts'
import type { OutboxScripts } from './scripts/scripts.ts'

/** Scripts are called with at most so many products at once, so that none blocks Redis for long. */
const productsPerScript = 2_000

/** Which products of this process's claims are still bound: the lease is given up with the last one. */
export class OpenClaims {
  readonly #bound = new Map<string, Set<ProductId>>()
  /** Digests of the documents that were claimed, of products whose newest document is sent in their place. */
  readonly #replaced = new Map<string, ReadonlyMap<ProductId, Buffer>>()

  add(token: string, ids: readonly ProductId[]): void {
    this.#bound.set(token, new Set(ids))
  }

  replace(token: string, claimed: ReadonlyMap<ProductId, Buffer>): void {
    if (claimed.size > 0) this.#replaced.set(token, claimed)
  }

  /** Whether these are all that is left of the claim. */
  isWhole(token: string, products: readonly { productId: ProductId }[]): boolean {
    const bound = this.#bound.get(token)
    return bound?.size === products.length && products.every(({ productId }) => bound.has(productId))
  }

  /** What settles a product of which this document was sent: its digest, and that of the document that it replaced. */
  digestsOf(token: string, { productId, digest }: { productId: ProductId; digest: Buffer }): Buffer {
    const claimed = this.#replaced.get(token)?.get(productId)
    return claimed ? Buffer.concat([digest, claimed]) : digest
  }

  forget(token: string): void {
    this.#bound.delete(token)
    this.#replaced.delete(token)
  }

  /**
   * Settles products part by part; `last` is 1 for the part that settles the claim's last product. Failing ends it: what
   * was settled is not known then, and the lease runs out.
   */
  async settle<T extends { productId: ProductId }>(
    token: string,
    products: readonly T[],
    settlePart: (part: readonly T[], last: '0' | '1') => Promise<unknown>,
  ): Promise<void> {
    const bound = this.#bound.get(token)
    for (const part of partsOf(products)) {
      for (const { productId } of part) bound?.delete(productId)
      const done = bound?.size === 0
      try {
        await settlePart(part, done ? '1' : '0')
      } catch (error) {
        this.forget(token)
        throw error
      }
      if (done) this.forget(token)
    }
  }
}

function partsOf<T>(items: readonly T[]): T[][] {
  const parts: T[][] = []
  for (let start = 0; start < items.length; start += productsPerScript) {
    parts.push(items.slice(start, start + productsPerScript))
  }
  return parts
}

interface ExpiryOptions {
  connection: RedisConnection
  keys: CatalogKeys
  scripts: OutboxScripts
  delivery: DeliveryConfig
}

/** Gives back what the claims with an expired lease hold. Returns how many products. */
export async function expireClaims(options: ExpiryOptions, open: OpenClaims): Promise<number> {
  const { connection, keys } = options
  await correctTimes(options)
  const expired = await connection.zrangebyscore(keys.leases, '-inf', await readRedisTime(connection))
  let count = 0
  for (const token of expired) {
    count += await expire(options, token)
    open.forget(token)
  }
  return count
}

/** After the clock of Redis was set back nothing waits for the time by which it was ahead. */
async function correctTimes({ connection, scripts, delivery }: ExpiryOptions): Promise<void> {
  const { timeoutMs, horizonMs } = delivery
  const echoMs = leaseMs + timeoutMs + horizonMs
  const aheadMsMax = [0, newAfterMs, 0, echoMs, echoMs, leaseMs, probedForMs, probeEveryMsMax]
  while (Number(await scripts.run(connection, 'correct-times', aheadMsMax)) === 1);
}

/** A call's process died or slept: whether its request took effect is unknown. */
async function expire(
  { connection, keys, scripts, delivery }: ExpiryOptions,
  token: string,
): Promise<number> {
  const ids = await readClaimedBy(connection, keys, token)
  const { timeoutMs, horizonMs } = delivery
  // A process that sleeps may have begun its call at the end of its lease.
  const echoForMs = horizonMs + Math.max(0, timeoutMs - leaseMs)
  const parts = ids.length === 0 ? [[]] : partsOf(ids)
  let count = 0
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1 ? '1' : '0'
    count += Number(await scripts.run(connection, 'release', [token, last, 'expired', echoForMs, ...part]))
  }
  return count
}

/** Which products a claim of any process holds. */
async function readClaimedBy(
  connection: RedisConnection,
  { claimed }: CatalogKeys,
  token: string,
): Promise<string[]> {
  const ids: string[] = []
  for await (const page of connection.hscanStream(claimed, { count: 1_000 })) {
    const pairs = page as string[]
    for (let i = 0; i < pairs.length; i += 2) {
      const id = pairs[i]
      if (id !== undefined && pairs[i + 1]?.startsWith(`${token} `)) ids.push(id)
    }
  }
  return ids
}
