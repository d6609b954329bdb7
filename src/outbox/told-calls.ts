import type { CallFacts, SettledCall } from '../mirror/calls.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import type { LoopAccess } from './loop-access.ts'

/** Some kilobytes each. The newest stay while no process has the mirror: they are for people, and Redis is small. */
const callsMax = 200
const lineEnd = 10

/** Tells a call to the process that has the mirror, which tells `why` and the console. Delivery does not wait for it. */
export async function tellCall(
  connection: RedisConnection,
  { calls }: CatalogKeys,
  { ids, ...facts }: SettledCall,
): Promise<void> {
  const entry = Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), ids])
  await connection.multi().rpush(calls, entry).ltrim(calls, -callsMax, -1).exec()
}

/** What was told leaves Redis before it is durable: whoever is killed in between has forgotten some calls, and no product. */
export async function takeCalls({
  connection,
  keys,
  mirror,
}: Pick<LoopAccess, 'connection' | 'keys' | 'mirror'>): Promise<void> {
  const told = (await connection.callBuffer('LPOP', keys.calls, callsMax)) as Buffer[] | null
  mirror.noteCalls((told ?? []).map(parseTold))
}

function parseTold(entry: Buffer): SettledCall {
  const end = entry.indexOf(lineEnd)
  const facts = JSON.parse(entry.subarray(0, end).toString('utf8')) as CallFacts
  return { ...facts, ids: new Uint8Array(entry.subarray(end + 1)) }
}
