import type { Lane } from '../catalog/model.ts'
import { type RedisConnection, readRedisTime } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import type { PauseReason } from './model.ts'

/** Where a catalog stands. All ages and times in milliseconds. */
export interface OutboxOverview {
  /** Products with a complete document. */
  products: number
  /** Products that miss required fields: not sent. */
  incomplete: number
  /** Products whose newest document is not acknowledged, dead letters included. */
  pending: number
  /** `oldestMs`: how long the first one has been due; `dueInMs`: until it is. One of the two is 0. */
  lanes: Record<Lane, { waiting: number; oldestMs: number; dueInMs: number }>
  /** Products to be sent once more after an unknown outcome, or by a resync; `dueInMs` of the last of them. */
  echoes: { waiting: number; dueInMs: number }
  inFlight: number
  dead: number
  paused: { reason: PauseReason; since: string; hint: string }[]
  /** No call starts for so long, and why. */
  holdMs: number
  holdReason: string | undefined
  failuresInARow: number
  lastFailure: { at: string; text: string } | undefined
  /** Bytes a call may have after a 413; they grow again. */
  learnedBodyBytes: number | undefined
  /** How long ago that 413 was. */
  learnedBodyBytesAgeMs: number | undefined
  counters: Readonly<Record<string, number>>
}

export async function readOverview(connection: RedisConnection, keys: CatalogKeys): Promise<OutboxOverview> {
  const now = await readRedisTime(connection)
  const [products, incomplete, pending, inFlight, dead] = await Promise.all(
    [keys.documents, keys.incomplete, keys.pending, keys.claimed, keys.dead].map((key) =>
      connection.hlen(key),
    ),
  )
  const [pause, pace, counters] = await Promise.all([
    connection.hgetall(keys.pause),
    connection.hgetall(keys.pace),
    connection.hgetall(keys.counters),
  ])
  const holdMs = Math.max(0, Math.ceil(Number(pace.until ?? 0) - now))
  return {
    products: products ?? 0,
    incomplete: incomplete ?? 0,
    pending: pending ?? 0,
    lanes: {
      urgent: await readLane(connection, keys.urgent, now),
      new: await readLane(connection, keys.new, now),
      deferred: await readLane(connection, keys.deferred, now),
    },
    echoes: await readEchoes(connection, keys.echoes, now),
    inFlight: inFlight ?? 0,
    dead: dead ?? 0,
    paused: Object.entries(pause).map(([reason, text]) => {
      return { reason: reason as PauseReason, ...(JSON.parse(text) as { since: string; hint: string }) }
    }),
    holdMs,
    holdReason: holdMs > 0 ? pace.untilReason : undefined,
    failuresInARow: Number(pace.failures ?? 0),
    lastFailure: pace.lastFailure === undefined ? undefined : JSON.parse(pace.lastFailure),
    learnedBodyBytes: pace.bodyBytes === undefined ? undefined : Number(pace.bodyBytes),
    learnedBodyBytesAgeMs:
      pace.bodyBytes === undefined ? undefined : Math.max(0, now - Number(pace.bodyBytesAt ?? now)),
    counters: Object.fromEntries(Object.entries(counters).map(([name, count]) => [name, Number(count)])),
  }
}

async function readLane(connection: RedisConnection, key: string, now: number) {
  const [waiting, first] = await Promise.all([
    connection.zcard(key),
    connection.zrange(key, '0', '0', 'WITHSCORES'),
  ])
  const dueInMs = Math.round(Number(scoreOf(first) ?? now) - now)
  return { waiting, oldestMs: Math.max(0, -dueInMs), dueInMs: Math.max(0, dueInMs) }
}

async function readEchoes(connection: RedisConnection, key: string, now: number) {
  const [waiting, last] = await Promise.all([
    connection.zcard(key),
    connection.zrange(key, '-1', '-1', 'WITHSCORES'),
  ])
  return { waiting, dueInMs: Math.max(0, Math.round(Number(scoreOf(last) ?? now) - now)) }
}

/** RESP3 answers pairs, RESP2 a flat list. */
function scoreOf(answer: unknown): unknown {
  return (answer as unknown[]).flat()[1]
}
