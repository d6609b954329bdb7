import type { CatalogName } from '../lib/brand.ts'
import { StorageError } from '../lib/errors.ts'
import type { RedisConnection } from '../redis/connection.ts'

/** What version 1 stored of a catalog's products, each under a key of its own. */
const names = [
  ...['documents', 'partials', 'meta', 'incomplete', 'switches', 'key-fields', 'acknowledged', 'pending'],
  ...[
    'urgent',
    'new',
    'deferred',
    'echoes',
    'claimed',
    'leases',
    'dead',
    'dropped',
    'refusals',
    'pause',
    'pace',
  ],
  ...[
    'probed',
    'probe-turn',
    'counters',
    'writer',
    'writer-lease',
    'applied',
    'counts',
    'full-as-of',
    'held',
  ],
  ...['notices', 'alert-mark', 'progress'],
] as const
/**
 * Followed by the name of a feed, of a field, or of what BullMQ stores. Of consents nothing is moved: their
 * acknowledgements stood on the disk, and their files are applied again from the archive.
 */
const families = ['held-ids', 'key-index', 'deliveries', 'schedules', 'consents'] as const

export interface OldStore {
  catalog: CatalogName
  connection: RedisConnection
}

export function oldKey(
  { catalog }: Pick<OldStore, 'catalog'>,
  name: (typeof names)[number] | 'origin' | `${(typeof families)[number]}:${string}`,
): string {
  return `catalogd:{${catalog}}:${name}`
}

/** Whether this Redis holds what version 1 stored for the state folder of that id. */
export async function isOldStore(store: OldStore, stateId: string | undefined): Promise<boolean> {
  return stateId !== undefined && (await store.connection.get(oldKey(store, 'origin'))) === stateId
}

/** The key that tells whose the others are goes last: a crash goes on with the rest. */
export async function removeOldKeys(store: OldStore): Promise<void> {
  const { connection, catalog } = store
  await connection.unlink(...names.map((name) => oldKey(store, name)))
  for (const family of families) {
    let cursor = '0'
    do {
      const match = `${escapePattern(`catalogd:{${catalog}}:${family}:`)}*`
      const [next, found] = await connection.scan(cursor, 'MATCH', match, 'COUNT', 1_000)
      cursor = next
      if (found.length > 0) await connection.unlink(...found)
    } while (cursor !== '0')
  }
  await connection.unlink(oldKey(store, 'origin'))
}

/**
 * A process of version 1 must not deliver while its keys are moved: what it had acknowledged meanwhile would be sent again,
 * and it would go on with what it claimed. A call of one that was killed is waited for until its lease has ended.
 */
export async function refuseOldHosts(store: OldStore, sleep: (ms: number) => Promise<void>): Promise<void> {
  const { connection, catalog } = store
  const worker = `name=catalogd:{${catalog}}:${Buffer.from('deliveries').toString('base64')}`
  const clients = String(await connection.client('LIST'))
  if (clients.includes(worker)) throw oldHostRuns(catalog)
  const leaseMs = await longestLeaseMs(store)
  if (leaseMs === 0) return
  await sleep(leaseMs)
  if ((await longestLeaseMs(store)) > 0) throw oldHostRuns(catalog)
}

/** 0: none. */
async function longestLeaseMs(store: OldStore): Promise<number> {
  const { connection } = store
  const [, ends] = await connection.zrevrange(oldKey(store, 'leases'), 0, 0, 'WITHSCORES')
  const [seconds, micros] = await connection.time()
  return Math.max(0, Math.ceil(Number(ends ?? 0) - Number(seconds) * 1_000 - Number(micros) / 1_000))
}

function oldHostRuns(catalog: CatalogName): StorageError {
  return new StorageError(
    'old-host-runs',
    `a catalogd of an earlier version still delivers the products of ${catalog}`,
    { hint: 'Stop it on every host that uses this Redis, then start this one again' },
  )
}

function escapePattern(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}
