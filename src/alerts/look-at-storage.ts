import type { RedisState } from '../redis/connections.ts'
import { freeBytes, spareBytes } from '../sources/space.ts'
import type { Condition } from './model.ts'

/** A Redis that is started again is back before. */
const redisLastsMs = 20_000

/** Pure. */
export function lookAtRedis(state: RedisState): Condition[] {
  const condition = (subject: string, message: string, hint: string): Condition[] => [
    { kind: 'redis', subject, severity: 'critical', message, hint, forMs: redisLastsMs },
  ]
  if (!state.up) {
    const hint = 'Files are still accepted; everything goes on by itself when it is back'
    return condition('down', `Redis at ${state.address} cannot be reached: ${state.error}`, hint)
  }
  const { aof, usedMemoryBytes, maxMemoryBytes } = state.info
  if (aof === 'failing') {
    const message = `Redis at ${state.address} cannot write its append-only file and refuses all changes`
    return condition('read-only', message, 'Free disk space there; everything goes on by itself')
  }
  if (!state.info.isShortOfMemory) return []
  const used = usedMemoryBytes < maxMemoryBytes ? 'is nearly out of memory' : 'has no memory left'
  const message = `Redis at ${state.address} ${used} (maxmemory)`
  return condition('memory', message, 'Give it more; imports go on, and everything else by itself')
}

/** Seen directly: a Redis on the same disk could not tell. */
export async function lookAtDisk(stateDir: string): Promise<Condition[]> {
  if ((await freeBytes(stateDir)) >= spareBytes) return []
  return [
    {
      ...{ kind: 'disk', subject: 'state', severity: 'critical' },
      message: `The disk of ${stateDir} is full: no file is accepted`,
      hint: 'Free some space there; accepting goes on by itself',
    },
  ]
}

/** Redis was wiped, or went back to an earlier state; it is over when what is missing was offered again. */
export function lostByRedis(address: string): Condition {
  return {
    ...{ kind: 'redis', subject: 'rolled-back', severity: 'warning' },
    message: `Redis at ${address} lost what it held; it is filled again from the mirror`,
    hint: 'Nothing is lost, but products may be sent twice. Find out why: a restart without its data, a failover, FLUSHALL',
  }
}
