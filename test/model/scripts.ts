import {
  type Document,
  type Guard,
  type Lane,
  lanes,
  limits,
  numbers,
  type Offer,
  type Redis,
  type World,
} from './state.ts'

// What the scripts of the loop do to Redis. Each is one step: nothing comes between its reads and writes.

export function freshRedis(runId: number): Redis {
  return {
    runId,
    guard: null,
    positions: numbers(),
    written: 0,
    beat: 0,
    documents: new Map(),
    pending: new Map(),
    queued: new Map(),
    counted: new Map(),
    echoes: new Map(),
    requests: new Set(),
    claimed: new Map(),
    leases: new Map(),
    acknowledged: new Map(),
    dead: new Map(),
    refused: 0,
    refusals: new Map(),
    refusedInARow: [],
    paused: new Map(),
    resumedAt: 0,
    heldUntil: 0,
  }
}

/** Whether a script of this owner may act: every script begins with it. */
export function passesGuard(world: World, caller: { generation: string; runId: number }): boolean {
  const { rules, redis } = world
  const { guard } = redis
  if (!guard) return !rules['the guard compares generations']
  if (rules['the guard compares generations'] && guard.generation !== caller.generation) return false
  if (!rules['the guard compares run ids']) return guard.open
  return guard.open && guard.runId === caller.runId
}

/** Puts a document that is due into its lane, or takes out one whose edit was undone. */
export function offer(world: World, { id, document, digest, lane, kind, number, since }: Offer): void {
  const { redis, rules, now } = world
  if (kind === 'undone' && (!isInFlight(redis, id) || !rules['dropped only when nothing is held'])) {
    forgetDocument(redis, id)
    redis.dead.delete(id)
    redis.acknowledged.set(id, unique(world, `=${digest}`, `${lane}${number}`))
    return
  }
  redis.documents.set(id, document)
  redis.pending.set(id, digest)
  if (redis.refusals.get(id) === digest) return
  redis.refusals.delete(id)
  redis.dead.delete(id)
  enterLane(redis, id, { lane, score: since })
  if (rules['an offer answers a request']) redis.requests.delete(id)
  const isAfterLoss = kind === 'doubt' && (redis.guard?.echoUntil ?? 0) > now
  if (isAfterLoss && rules['a loss leaves echoes']) echoAt(redis, id, now)
}

/** After a loss none is due before no call of the time before can take effect any more. */
export function echoAt(redis: Redis, id: string, at: number): void {
  const earliest = redis.guard?.echoUntil ?? 0
  redis.requests.delete(id)
  redis.echoes.set(id, Math.max(at, earliest, redis.echoes.get(id) ?? 0))
}

/** By a time of each, then by their names. */
export function inOrder(ids: Iterable<string>, timeOf: (id: string) => number): string[] {
  return [...ids].sort((one, other) => timeOf(one) - timeOf(other) || (one < other ? -1 : 1))
}

/** The same digest may be written anew while a drain is under way: each writing of it is told from the others. */
export function unique({ rules }: World, value: string, by: string): string {
  return rules['an acknowledgement is told from the next'] ? `${value} ${by}` : value
}

/** What an edit that is undone must wait for. */
function isInFlight(redis: Redis, id: string): boolean {
  const known = redis.acknowledged.get(id)
  return (
    redis.claimed.has(id) ||
    redis.echoes.has(id) ||
    redis.requests.has(id) ||
    redis.refusals.has(id) ||
    (known !== undefined && !known.startsWith('='))
  )
}

/** A product is in one lane; a more urgent change moves it up. */
export function enterLane(redis: Redis, id: string, { lane, score }: { lane: Lane; score: number }): void {
  const queued = redis.queued.get(id)
  if (!queued || lanes.indexOf(lane) < lanes.indexOf(queued.lane)) redis.queued.set(id, { lane, score })
  redis.counted.set(id, redis.queued.get(id)?.lane ?? lane)
}

export function forgetDocument(redis: Redis, id: string): void {
  redis.pending.delete(id)
  redis.documents.delete(id)
  redis.queued.delete(id)
  redis.counted.delete(id)
}

/** Whether Redis holds anything of a product besides its acknowledgement or dead letter. */
function isHeld(redis: Redis, id: string): boolean {
  return (
    redis.queued.has(id) ||
    redis.pending.has(id) ||
    redis.claimed.has(id) ||
    redis.echoes.has(id) ||
    redis.requests.has(id)
  )
}

export function readFields(redis: Redis) {
  const fields = (map: ReadonlyMap<string, string>) =>
    [...map].map(([id, value]): [string, string, boolean] => [id, value, isHeld(redis, id)])
  const acknowledged = fields(redis.acknowledged)
  return {
    beat: redis.beat,
    positions: { ...redis.positions },
    acknowledged,
    dead: fields(redis.dead),
    refused: redis.refused,
  }
}

export function removeFields(
  { redis, rules }: World,
  {
    acknowledged,
    dead,
  }: { acknowledged: readonly [string, string, boolean][]; dead: readonly [string, string, boolean][] },
): void {
  const always = !rules['only the value that was taken is removed']
  for (const [id, value] of acknowledged) {
    if (always || redis.acknowledged.get(id) === value) redis.acknowledged.delete(id)
  }
  for (const [id, digest, held] of dead) {
    // A refusal that may be taken back is told once more when that is decided, which may have been just now.
    const isDecidedSince = held && !isHeld(redis, id) && rules['a decided refusal is told again']
    const stays = redis.refusals.has(id) || isDecidedSince
    if (!stays && (always || redis.dead.get(id) === digest)) redis.dead.delete(id)
  }
}

/** A document for an echo that waits for one. */
export function serve({ redis }: World, id: string, document: Document | undefined): void {
  if (!redis.requests.delete(id)) return
  if (!document) {
    redis.echoes.delete(id)
    redis.acknowledged.delete(id)
  } else redis.documents.set(id, document)
}

export function servedCount(redis: Redis): number {
  return [...redis.documents.keys()].filter((id) => !redis.pending.has(id)).length
}

/** Everything that is named anywhere. */
export function namesIn(redis: Redis): Set<string> {
  const { documents, pending, queued, claimed, echoes, requests, refusals, acknowledged, dead } = redis
  return new Set(
    [documents, pending, queued, claimed, echoes, requests, refusals, acknowledged, dead].flatMap((keys) => [
      ...keys.keys(),
    ]),
  )
}

/** All keys of the outbox; the guard, the beat, pauses and pace stay. */
export function emptyOutbox(redis: Redis): void {
  const { runId, guard, beat, paused, resumedAt, heldUntil, written, refused } = redis
  const kept = { guard, beat, paused, resumedAt, heldUntil, refused }
  Object.assign(redis, freshRedis(runId), { ...kept, written: written + 1 })
}

/** Writes the guard if the one there is none, or one that the caller knows for its own. */
export function setGuard(
  { redis, rules }: World,
  guard: Guard,
  { known, onlyWhen }: { known: readonly string[]; onlyWhen?: (present: Guard | null) => boolean },
): boolean {
  const present = redis.guard
  if (rules['opening compares the guard'] && present && !known.includes(present.generation)) return false
  if (onlyWhen && !onlyWhen(present)) return false
  redis.guard = guard
  redis.written++
  return true
}

export function countedIn(redis: Redis, lane: Lane): number {
  return [...redis.counted.values()].filter((each) => each === lane).length
}

/** How many more documents a lane takes. */
export function roomIn({ redis, rules }: Pick<World, 'redis' | 'rules'>, lane: Lane): number {
  if (lane === 'urgent' && !rules['urgent has a limit']) return Number.POSITIVE_INFINITY
  const counted = rules['a limit for each lane'] ? countedIn(redis, lane) : redis.counted.size
  return limits.pendingPerLane - counted
}
