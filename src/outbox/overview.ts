import type { Lane } from '../catalog/model.ts'
import type { CatalogConfig } from '../config/model.ts'
import type { CallsDecision } from '../mirror/model.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import { type RedisConnection, readRedisTime } from '../redis/connection.ts'
import { type CatalogKeys, catalogKeys } from './keys.ts'
import type { PauseReason } from './model.ts'

/** Why no call is made, since when, and what to do. */
export interface Pause {
  reason: PauseReason
  since: string
  hint: string
  /** Of refused credentials: when they were tried last, and in how long they are tried again; 0: now. */
  triedAt?: string | undefined
  nextTryMs?: number | undefined
}

/** What Redis tells of delivering. All ages and times in milliseconds. */
export interface DeliveryOverview {
  /** Products to be sent once more after an unknown outcome; `dueInMs` of the last of them. */
  echoes: { waiting: number; dueInMs: number }
  inFlight: number
  paused: Pause[]
  /** No call starts for so long, and why. */
  holdMs: number
  holdReason?: string | undefined
  failuresInARow: number
  lastFailure?: { at: string; text: string } | undefined
  /** Bytes a call may have after a 413; they grow again. */
  learnedBodyBytes?: number | undefined
  /** How long ago that 413 was. */
  learnedBodyBytesAgeMs?: number | undefined
  counters: Readonly<Record<string, number>>
}

/** While nobody tells. */
const unknownDelivery: DeliveryOverview = {
  echoes: { waiting: 0, dueInMs: 0 },
  inFlight: 0,
  paused: [],
  holdMs: 0,
  failuresInARow: 0,
  counters: {},
}

/** Where a catalog stands. */
export interface OutboxOverview extends DeliveryOverview {
  /** Products with a complete document. */
  products: number
  /** Products that miss required fields: not sent. */
  incomplete: number
  /** Products that have a place: unsent, or sent once more; and dead letters. */
  pending: number
  /** Of those, products whose newest document is acknowledged: nothing of them is missing at the endpoint. */
  repeats: number
  /** `oldestMs`: how long the first one has been due; `dueInMs`: until it is. One of the two is 0. */
  lanes: Record<Lane, { waiting: number; oldestMs: number; dueInMs: number }>
  dead: number
}

export async function readDelivery(
  connection: RedisConnection,
  keys: CatalogKeys,
): Promise<DeliveryOverview> {
  const [now, inFlight, pause, pace, counters, echoes, lastEcho, probeTurnMs] = await Promise.all([
    readRedisTime(connection),
    connection.hlen(keys.claimed),
    connection.hgetall(keys.pause),
    connection.hgetall(keys.pace),
    connection.hgetall(keys.counters),
    connection.zcard(keys.echoes),
    connection.zrange(keys.echoes, '-1', '-1', 'WITHSCORES'),
    connection.pttl(keys.probeTurn),
  ])
  const holdMs = Math.max(0, Math.ceil(Number(pace.until ?? 0) - now))
  return {
    echoes: { waiting: echoes, dueInMs: Math.max(0, Math.round(Number(scoreOf(lastEcho) ?? now) - now)) },
    inFlight,
    paused: Object.entries(pause).map(([reason, text]) => {
      const paused = {
        reason: reason as PauseReason,
        ...(JSON.parse(text) as { since: string; hint: string }),
      }
      if (reason !== 'credentials') return paused
      // While an operator has paused them, too, nothing is tried.
      const nextTryMs = 'operator' in pause ? undefined : Math.max(0, probeTurnMs)
      return { ...paused, nextTryMs, ...triedSince(paused, pace.tried) }
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

/** The last probe of refused credentials; of an earlier pause it says nothing. */
function triedSince({ since, hint }: Pick<Pause, 'since' | 'hint'>, text: string | undefined) {
  if (text === undefined) return {}
  const tried = JSON.parse(text) as { at: string; hint?: string }
  return tried.at < since ? {} : { triedAt: tried.at, hint: tried.hint ?? hint }
}

/** Whether calls are made, or not, as the operator decided; also where a later decision has taken its place. */
export async function followsDecision(
  { connection, keys }: { connection: RedisConnection; keys: CatalogKeys },
  { decision, at }: CallsDecision,
): Promise<boolean> {
  const isPaused = (await connection.hexists(keys.pause, 'operator')) === 1
  const resumedAt = (await connection.hget(keys.pace, 'resumedAt')) ?? ''
  return decision === 'pause' ? isPaused || resumedAt > at : resumedAt >= at
}

interface OverviewAccess {
  catalog: Pick<CatalogConfig, 'name' | 'deferred'>
  /** Undefined: Redis is away. */
  connection: RedisConnection | undefined
  mirror: Pick<MirrorReader, 'count'>
  /** Since the epoch. */
  nowMs: number
}

/** What is unsent stands in the mirror, what is under way in Redis. */
export async function readOverview(access: OverviewAccess): Promise<OutboxOverview> {
  const { catalog, connection, mirror, nowMs } = access
  const { places, repeats, dead, products, incomplete } = mirror.count()
  const laneOf = (lane: Lane) => {
    const { waiting, sinceMs = nowMs } = places[lane]
    const dueInMs = sinceMs + (lane === 'deferred' ? catalog.deferred.afterMs : 0) - nowMs
    return waiting === 0
      ? { waiting, oldestMs: 0, dueInMs: 0 }
      : { waiting, oldestMs: Math.max(0, -dueInMs), dueInMs: Math.max(0, dueInMs) }
  }
  const lanes = { urgent: laneOf('urgent'), new: laneOf('new'), deferred: laneOf('deferred') }
  const unsent = lanes.urgent.waiting + lanes.new.waiting + lanes.deferred.waiting
  return {
    ...(connection ? await readDelivery(connection, catalogKeys(catalog.name)) : unknownDelivery),
    products,
    incomplete,
    pending: unsent + repeats + dead,
    repeats,
    lanes,
    dead,
  }
}

/** RESP3 answers pairs, RESP2 a flat list. */
function scoreOf(answer: unknown): unknown {
  return (answer as unknown[]).flat()[1]
}
