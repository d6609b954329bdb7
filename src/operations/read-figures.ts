import type { Lane } from '../catalog/model.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { readDelivery } from '../outbox/overview.ts'
import type { OperationContext } from './run-here.ts'

/** Counters of one catalog since its keys were made, and the ages of what waits in Redis. */
export interface DeliveryFigures {
  atMs: number
  calls: number
  /** Of all bodies that were sent. */
  bytes: number
  acknowledged: number
  /** Calls without an answer, and products that were refused. */
  unanswered: number
  refused: number
  /** How long the first product of a lane that was offered, and is in no call, has been due. */
  oldestMs: Readonly<Record<Lane, number>>
}

/** A few reads in Redis, so that it can be asked every few seconds; undefined: Redis is away. */
export async function readFigures({
  catalog,
  connections,
  clock,
}: Pick<OperationContext, 'catalog' | 'connections' | 'clock'>): Promise<DeliveryFigures | undefined> {
  if (connections.failure) return undefined
  const connection = connections.commands
  const keys = catalogKeys(catalog.name)
  const atMs = clock.now()
  const ageOf = async (lane: Lane) => {
    const [first] = await connection.zrange(keys[lane], '0', '0')
    const score = first === undefined ? null : await connection.zscore(keys[lane], first)
    return score === null ? 0 : Math.max(0, atMs - Number(score))
  }
  try {
    const [{ counters }, urgent, fresh, deferred] = await Promise.all([
      readDelivery(connection, keys),
      ...([ageOf('urgent'), ageOf('new'), ageOf('deferred')] as const),
    ])
    const acknowledged = Object.entries(counters).filter(([name]) => name.startsWith('acknowledged:'))
    const { calls = 0, bytes = 0, unanswered = 0, refused = 0 } = counters
    return {
      ...{ atMs, calls, bytes, unanswered, refused },
      acknowledged: acknowledged.reduce((sum, [, value]) => sum + value, 0),
      oldestMs: { urgent, new: fresh, deferred: Math.max(0, deferred - catalog.deferred.afterMs) },
    }
  } catch (error) {
    if (connections.failure || connections.explain(error) !== error) return undefined
    throw error
  }
}
