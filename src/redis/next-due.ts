import type { CatalogName } from '../lib/brand.ts'
import type { RedisConnections } from './connections.ts'

// What is asked of BullMQ's keys without BullMQ: `status` would otherwise read its 250 files for one number.

export const schedulesName = 'schedules'

/** A process of version 1, which has no such prefix, neither takes tickets of this one nor gives it any. */
export function queuePrefix(catalog: CatalogName): string {
  return `catalogd:{${catalog}}:2`
}

/** Whether a catalog has schedules, without opening them. */
export async function hasSchedules(connections: RedisConnections, catalog: CatalogName): Promise<boolean> {
  const key = `${queuePrefix(catalog)}:${schedulesName}:repeat`
  return (await connections.explained(() => connections.commands.zcard(key))) > 0
}

/** Wall-clock ms of the next time, by the clock that wrote it; undefined: none is known. */
export async function readNextDue(
  connections: RedisConnections,
  { catalog, id }: { catalog: CatalogName; id: string },
): Promise<number | undefined> {
  const key = `${queuePrefix(catalog)}:${schedulesName}:repeat`
  const score = await connections.explained(() => connections.commands.zscore(key, id))
  return score === null ? undefined : Number(score)
}
