import { join } from 'node:path'
import type { CatalogConfig } from '../config/model.ts'
import { ConsentReader } from '../consents/reader.ts'
import type { Mirror } from '../mirror/reader.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { readDelivery } from '../outbox/overview.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { lookAtDisk, lookAtRedis } from './catalog-look.ts'

/** `elsewhere`: another process accepts and imports, by its roles. */
export type IntakeState = 'starting' | 'standby' | 'active' | 'elsewhere'

interface HealthOptions {
  connections: RedisConnections
  catalogs: readonly CatalogConfig[]
  stateDir: string
  intake: IntakeState
  /** Of the catalogs that this process imports: what it tells in them, `status` shows. */
  mirrors: readonly Pick<Mirror, 'notices'>[]
}

/** `attention`: no calls are made, or files wait for room although the disk has some. */
export async function readHealth({ connections, catalogs, stateDir, intake, mirrors }: HealthOptions) {
  const redisState = await connections.state()
  const [redis] = lookAtRedis(redisState)
  const isFull = await lookAtDisk(stateDir).then(
    (found) => found.length > 0,
    () => true,
  )
  const calls = redisState.up ? await readCalls({ connections, catalogs, stateDir }) : 'unknown'
  // A file may need more room than there is, or its disk be another one.
  const isWaited = mirrors.some((mirror) => mirror.notices().has('disk'))
  const parts = { redis: redis?.subject ?? 'ok', disk: isFull || isWaited ? 'full' : 'ok', intake, calls }
  if (redis !== undefined || isFull) return { status: 'failing' as const, parts }
  if (intake === 'starting') return { status: 'starting' as const, parts }
  return { status: calls === 'paused' || isWaited ? ('attention' as const) : ('ok' as const), parts }
}

async function readCalls({ connections, catalogs, stateDir }: Omit<HealthOptions, 'intake' | 'mirrors'>) {
  try {
    const keys = catalogs.map(({ name }) => catalogKeys(name))
    const overviews = await Promise.all(keys.map((of) => readDelivery(connections.commands, of)))
    const isPaused =
      overviews.some(({ paused }) => paused.length > 0) ||
      catalogs.some(({ name }) => hasPausedConsents(join(stateDir, name)))
    return isPaused ? 'paused' : 'ok'
  } catch {
    return 'unknown'
  }
}

/** By the folder of the catalog. */
function hasPausedConsents(dir: string): boolean {
  using consents = ConsentReader.open(dir)
  return Object.keys(consents.calls.pauses).length > 0
}
