import type { Redis } from 'ioredis'
import type { CatalogKeys } from '../../src/outbox/keys.ts'

/**
 * Makes Redis look as it does after its clock was set back: each time that it wrote lies that much further ahead, and
 * what was to expire lasts that much longer.
 */
export async function setClockBack(connection: Redis, keys: CatalogKeys, byMs: number): Promise<void> {
  for (const key of [keys.urgent, keys.new, keys.deferred, keys.echoes, keys.requests, keys.leases]) {
    for (const member of await connection.zrange(key, '0', '-1')) await connection.zincrby(key, byMs, member)
  }
  for (const [field, text] of Object.entries(await connection.hgetall(keys.pace))) {
    if (Number(text) > 1_000_000_000_000) await connection.hset(keys.pace, field, Number(text) + byMs)
  }
  for (const [id, claim] of Object.entries(await connection.hgetall(keys.claimed))) {
    const [token, began, lane, score, ...rest] = claim.split(' ')
    const moved = [token, Number(began) + byMs, lane, Number(score) + byMs, ...rest]
    await connection.hset(keys.claimed, id, moved.join(' '))
  }
  for (const key of [keys.probed, keys.probeTurn]) {
    const restMs = await connection.pttl(key)
    if (restMs > 0) await connection.pexpire(key, restMs + byMs)
  }
}
