import type { ProductId } from '../lib/brand.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import type { StoredProduct } from './model.ts'

/** What Redis holds of some ids. */
export async function readStored(
  connection: RedisConnection,
  keys: CatalogKeys,
  ids: readonly ProductId[],
): Promise<Map<ProductId, StoredProduct>> {
  const [documents, partials, meta] = await Promise.all([
    connection.hmgetBuffer(keys.documents, ...ids),
    connection.hmgetBuffer(keys.partials, ...ids),
    connection.hmget(keys.meta, ...ids),
  ])
  const stored = new Map<ProductId, StoredProduct>()
  ids.forEach((id, index) => {
    stored.set(id, {
      document: documents[index] ?? undefined,
      partial: partials[index] ?? undefined,
      meta: meta[index] ?? undefined,
    })
  })
  return stored
}
