import type { CatalogConfig } from '../config/model.ts'
import { catalogKeys, type OutboxKind } from '../outbox/keys.ts'
import { readDelivery } from '../outbox/overview.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { lookAtDisk, lookAtRedis } from './look-at-storage.ts'

/** `elsewhere`: another process accepts and imports, by its roles. */
export type IntakeState = 'starting' | 'standby' | 'active' | 'elsewhere'

interface HealthOptions {
  connections: RedisConnections
  catalogs: readonly CatalogConfig[]
  stateDir: string
  intake: IntakeState
}

/** How this process is. Never throws. */
export async function readHealth({ connections, catalogs, stateDir, intake }: HealthOptions) {
  const redisState = await connections.state()
  const [redis] = lookAtRedis(redisState)
  const isFull = await lookAtDisk(stateDir).then(
    (found) => found.length > 0,
    () => true,
  )
  const calls = redisState.up ? await readCalls(connections, catalogs) : 'unknown'
  const isFailing = redis !== undefined || isFull || intake === 'starting'
  return {
    status: isFailing ? ('failing' as const) : calls === 'paused' ? ('attention' as const) : ('ok' as const),
    parts: { redis: redis?.subject ?? 'ok', disk: isFull ? 'full' : 'ok', intake, calls },
  }
}

async function readCalls(connections: RedisConnections, catalogs: readonly CatalogConfig[]) {
  const kinds: readonly OutboxKind[] = ['products', 'consents']
  const keys = catalogs.flatMap(({ name }) => kinds.map((kind) => catalogKeys(name, kind)))
  try {
    const overviews = await Promise.all(keys.map((of) => readDelivery(connections.commands, of)))
    return overviews.some(({ paused }) => paused.length > 0) ? 'paused' : 'ok'
  } catch {
    return 'unknown'
  }
}
