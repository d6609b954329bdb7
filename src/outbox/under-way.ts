import type { ProductId } from '../lib/brand.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import { type DeliveryOverview, readDelivery } from './overview.ts'

/** What Redis knows of one product, and of what calls wait for. Times are ms since the epoch. */
export interface UnderWay {
  /** It is bound to a call. */
  claim: { token: string; beganMs: number; leaseEndsMs: number | undefined } | undefined
  delivery: DeliveryOverview
}

export async function readUnderWay(
  connection: RedisConnection,
  keys: CatalogKeys,
  id: ProductId,
): Promise<UnderWay> {
  const [claim, delivery] = await Promise.all([
    connection.hget(keys.claimed, id),
    readDelivery(connection, keys),
  ])
  const [token = '', began] = claim?.split(' ') ?? []
  const lease = claim ? await connection.zscore(keys.leases, token) : null
  const leaseEndsMs = lease == null ? undefined : Number(lease)
  return {
    claim: claim ? { token, beganMs: Number(began), leaseEndsMs } : undefined,
    delivery,
  }
}
