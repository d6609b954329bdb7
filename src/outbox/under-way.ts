import type { ProductId } from '../lib/brand.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import { type DeliveryOverview, readDelivery } from './overview.ts'

/** What Redis knows of one product, and of what calls wait for. Times are ms since the epoch. */
export interface UnderWay {
  /** It is bound to a call. */
  claim: { token: string; beganMs: number; leaseEndsMs: number | undefined } | undefined
  /** When it is sent once more; undefined: it is not. */
  echoMs: number | undefined
  delivery: DeliveryOverview
}

export async function readUnderWay(
  connection: RedisConnection,
  keys: CatalogKeys,
  id: ProductId,
): Promise<UnderWay> {
  const [claim, echo, request, delivery] = await Promise.all([
    connection.hget(keys.claimed, id),
    connection.zscore(keys.echoes, id),
    connection.zscore(keys.requests, id),
    readDelivery(connection, keys),
  ])
  const due = echo ?? request
  const [token = '', began] = claim?.split(' ') ?? []
  const lease = claim ? await connection.zscore(keys.leases, token) : null
  const leaseEndsMs = lease == null ? undefined : Number(lease)
  return {
    claim: claim ? { token, beganMs: Number(began), leaseEndsMs } : undefined,
    echoMs: due === null ? undefined : Number(due),
    delivery,
  }
}
