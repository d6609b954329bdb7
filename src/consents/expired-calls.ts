import type { ConsentId } from '../lib/brand.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import { type RedisConnection, readRedisTime } from '../redis/connection.ts'
import type { ConsentPosition } from './position.ts'

interface ExpiredCall {
  token: string
  id: ConsentId
  position: ConsentPosition
  /** Wall-clock ms of the claim, by the clock of Redis. */
  began: number
}

/** Claims whose lease has ended: the process that sent them died, or slept. Leases without a claim are removed. */
export async function expiredCalls(connection: RedisConnection, keys: CatalogKeys): Promise<ExpiredCall[]> {
  const now = await readRedisTime(connection)
  const tokens = new Set(await connection.zrangebyscore(keys.leases, '-inf', now))
  if (tokens.size === 0) return []
  // There are no more of them than calls at one time.
  const claims = await connection.hgetall(keys.claimed)
  const expired: ExpiredCall[] = []
  for (const [id, claim] of Object.entries(claims)) {
    const [token = '', began = '0', , , position = ''] = claim.split(' ')
    if (!tokens.delete(token)) continue
    expired.push({ token, id: id as ConsentId, position: position as ConsentPosition, began: Number(began) })
  }
  if (tokens.size > 0) await connection.zrem(keys.leases, ...tokens)
  return expired
}
