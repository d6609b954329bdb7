import type { ProductId } from '../lib/brand.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'

/** Scripts are called with at most so many products at once, so that none blocks Redis for long. */
const productsPerScript = 2_000

/** Which products of this process's claims are still bound: the lease is given up with the last one. */
export class OpenClaims {
  readonly #bound = new Map<string, Set<ProductId>>()

  add(token: string, ids: readonly ProductId[]): void {
    this.#bound.set(token, new Set(ids))
  }

  forget(token: string): void {
    this.#bound.delete(token)
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
        this.#bound.delete(token)
        throw error
      }
      if (done) this.#bound.delete(token)
    }
  }
}

export function partsOf<T>(items: readonly T[]): T[][] {
  const parts: T[][] = []
  for (let start = 0; start < items.length; start += productsPerScript) {
    parts.push(items.slice(start, start + productsPerScript))
  }
  return parts
}

/** Which products a claim of any process holds. */
export async function readClaimedBy(
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
