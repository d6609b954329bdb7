import type { ProductId } from '../lib/brand.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { StoredProduct } from '../outbox/model.ts'
import type { RedisConnection } from '../redis/connection.ts'

/** Where the mirror stands; undefined: nothing was ever imported, every product is new. */
export type Mirror =
  | { connection: RedisConnection; keys: CatalogKeys; consents: { keys: CatalogKeys; stateDir: string } }
  | undefined

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
