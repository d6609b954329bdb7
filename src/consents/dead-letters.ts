import type { ConsentId, ProductId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { settleDeadLetters } from '../outbox/dead-letters.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { OutboxScripts } from '../outbox/scripts.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { CatchUp } from './catch-up.ts'
import type { ConsentJournal } from './journal.ts'
import { parsePosition } from './position.ts'

interface Access {
  connection: RedisConnection
  keys: CatalogKeys
  scripts: OutboxScripts
  journal: ConsentJournal
  catchUp: CatchUp
  clock: Clock
}

const idsPerRead = 1_000

/**
 * Carries out what the operator decided about dead letters, the journal first: a Redis that forgets it is told again.
 * Answers the ids that were dead letters.
 */
export async function settleConsents(
  { connection, keys, scripts, journal, catchUp, clock }: Access,
  { how, ids }: { how: 'retry' | 'drop'; ids: readonly ProductId[] },
): Promise<ProductId[]> {
  const dead = (await readPositions(connection, keys, ids)).filter(({ isDead }) => isDead)
  const at = clock.now()
  const entries = dead.map(({ id, position }) => journal.append({ event: how, id, position, at }))
  await Promise.all(entries)
  await catchUp.follow()
  const acted = dead.map(({ id }): ProductId => id)
  return how === 'drop' ? acted : settleDeadLetters({ connection, scripts }, { how, ids: acted })
}

async function readPositions(connection: RedisConnection, keys: CatalogKeys, ids: readonly ProductId[]) {
  const found = []
  for (let start = 0; start < ids.length; start += idsPerRead) {
    const part = ids.slice(start, start + idsPerRead)
    const letters = await connection.hmgetBuffer(keys.dead, ...part)
    const positions = await connection.hmget(keys.meta, ...part)
    for (const [index, id] of part.entries()) {
      const position = parsePosition(positions[index] ?? '')
      if (position) found.push({ id: id as ConsentId, position, isDead: Boolean(letters[index]) })
    }
  }
  return found
}
