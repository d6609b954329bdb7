import type { ProductId } from '../lib/brand.ts'
import { type GuardState, parseGuard } from './guard.ts'
import { type LoopAccess, numbersOf, OutboxMovedError } from './loop-access.ts'
import { type LaneState, portionRowsMax } from './pump.ts'

/** Redis as one turn of the loop meets it. Guard and positions are watched from before they were read. */
export interface RedisState extends LaneState {
  guard: GuardState | undefined
  beat: number
  /** Fields that the mirror has to learn. */
  acknowledged: number
  /** Products that were ever refused. */
  refused: number
  /** Something of products is there. */
  isBusy: boolean
  /** Calls that the mirror has to learn. */
  calls: number
  /** JSON by reason. */
  pause: Readonly<Record<string, string>>
  /** The newest decision to resume that was carried out. */
  resumedAt: string | undefined
  /** Calls of new products wait until they are full. */
  fills: boolean
}

/** Documents go along with offers for so long after a process that reads them in Redis has made a call. */
const readForMs = 60_000

export async function readRedisState({
  connection,
  keys,
}: Pick<LoopAccess, 'connection' | 'keys'>): Promise<RedisState> {
  const answers = await connection
    .pipeline()
    .unwatch()
    .watch(keys.guard, keys.positions)
    .hgetall(keys.guard)
    .get(keys.beat)
    .hmget(keys.positions, 'urgent', 'new', 'deferred')
    .hmget(keys.bytes, 'u', 'n', 'd', 'e')
    .hlen(keys.acknowledged)
    .hlen(keys.dead)
    .hget(keys.counters, 'refused')
    .zrange(keys.requests, '0', String(portionRowsMax - 1))
    .hgetall(keys.pause)
    .hmget(keys.pace, 'resumedAt', 'fillsUntil', 'readAt')
    .time()
    .llen(keys.calls)
    .hlen(keys.pending)
    .hlen(keys.claimed)
    .zcard(keys.echoes)
    .exec()
  const values = (answers ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
  if (values.length === 0) throw new OutboxMovedError('Redis does not answer')
  const [, , guard, beat, positions, bytes, acknowledged, dead, ...others] = values
  const [refused, requests, pause, pace, time, calls, ...busy] = others
  const [resumedAt, fillsUntil, readAt] = pace as (string | null)[]
  const [seconds = 0] = time as (string | number)[]
  const sizes = bytes as (string | null)[]
  return {
    guard: parseGuard(guard as Record<string, string>),
    beat: Number(beat ?? 0),
    positions: numbersOf(positions as unknown[]),
    bytes: numbersOf(sizes),
    echoBytes: Number(sizes[3] ?? 0),
    acknowledged: Number(acknowledged),
    dead: Number(dead),
    refused: Number(refused ?? 0),
    requests: requests as ProductId[],
    pause: pause as Record<string, string>,
    resumedAt: resumedAt ?? undefined,
    fills: typeof fillsUntil === 'string',
    // By its own clock, which may be set back.
    isRead: Math.abs(1_000 * Number(seconds) - Number(readAt ?? 0)) < readForMs,
    calls: Number(calls),
    isBusy: busy.some((count) => Number(count) > 0),
  }
}
