import type { ProductId } from '../lib/brand.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import { type DeliveryOverview, readDelivery } from './overview.ts'

/** What Redis knows of one product, and of what calls wait for. Times are ms since the epoch. */
export interface UnderWay {
  /** It is bound to a call. */
  claim: { token: string; beganMs: number; leaseEndsMs: number | undefined } | undefined
  /** Since when it is due there, or when it will be. */
  laneMs: Partial<Record<'urgent' | 'new' | 'deferred', number>>
  /** A send of unknown outcome is repeated then, whatever is answered meanwhile. */
  echoMs: number | undefined
  /** The mirror has yet to hear of an acknowledgement, or a doubt. */
  isReported: boolean
  delivery: DeliveryOverview
}

export async function readUnderWay(
  connection: RedisConnection,
  keys: CatalogKeys,
  id: ProductId,
): Promise<UnderWay> {
  // All together: of those that stand alone, the second to be refused would be nobody's.
  const [claim, reported, urgent, fresh, deferred, echo] = await Promise.all([
    connection.hget(keys.claimed, id),
    connection.hexists(keys.acknowledged, id),
    ...[keys.urgent, keys.new, keys.deferred, keys.echoes].map((key) => connection.zscore(key, id)),
  ])
  const [token = '', began] = claim?.split(' ') ?? []
  const lease = claim ? await connection.zscore(keys.leases, token) : null
  const lanes = { urgent, new: fresh, deferred }
  return {
    claim: claim ? { token, beganMs: Number(began), leaseEndsMs: numberOf(lease) } : undefined,
    laneMs: Object.fromEntries(
      Object.entries(lanes).flatMap(([lane, ms]) => (ms == null ? [] : [[lane, Number(ms)]])),
    ),
    echoMs: numberOf(echo),
    isReported: reported === 1,
    delivery: await readDelivery(connection, keys),
  }
}

function numberOf(score: string | null | undefined): number | undefined {
  return score == null ? undefined : Number(score)
}
