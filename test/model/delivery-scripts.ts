import { echoAt, enterLane, forgetDocument, inOrder, passesGuard, unique } from './scripts.ts'
import {
  type BoundProduct,
  type Document,
  digestOf,
  type Lane,
  limits,
  type Mirror,
  type Redis,
  type World,
} from './state.ts'

// What the scripts of delivering processes do to Redis.

export interface Caller {
  generation: string
  runId: number
}

/** Binds due products to one call: urgent first, then echoes, new, deferred. */
export function claim(
  world: World,
  caller: Caller,
  { token, mode, mirror }: { token: string; mode: 'urgent' | 'any'; mirror: Mirror | undefined },
) {
  const { redis, rules, now } = world
  if (!passesGuard(world, caller) || redis.paused.size > 0 || redis.heldUntil > now) return undefined
  const documents = new Map<string, Document>()
  const bind = (id: string, lane: Lane | 'echo', score: number) => {
    const offered = redis.documents.get(id)
    const document = offered && (mirror?.rows.get(id)?.document ?? offered)
    if (documents.size >= limits.productsPerCall || redis.claimed.has(id) || !document) return
    redis.claimed.set(id, { token, began: now, lane, score, digest: mirror && redis.pending.get(id) })
    redis.queued.delete(id)
    documents.set(id, document)
  }
  const take = (lane: Lane) => {
    for (const id of inOrder(redis.queued.keys(), (each) => redis.queued.get(each)?.score ?? 0)) {
      const queued = redis.queued.get(id)
      if (queued?.lane === lane) bind(id, lane, queued.score)
    }
  }
  take('urgent')
  if (mode === 'any') {
    for (const id of inOrder(redis.echoes.keys(), (each) => redis.echoes.get(each) ?? 0)) {
      const due = redis.echoes.get(id) ?? 0
      if (due > now || redis.refusals.has(id) || redis.dead.has(id)) continue
      const queued = redis.queued.get(id)
      if (redis.documents.has(id)) bind(id, queued?.lane ?? 'echo', queued?.score ?? due)
      else if (rules['an echo without document is requested']) redis.requests.add(id)
      else redis.echoes.delete(id)
    }
    take('new')
    take('deferred')
  }
  if (documents.size === 0) return undefined
  redis.leases.set(token, now + limits.lease)
  return documents
}

export function renew(world: World, caller: Caller, token: string): boolean {
  const ends = world.redis.leases.get(token)
  if (!passesGuard(world, caller) || ends === undefined || ends <= world.now) return false
  world.redis.leases.set(token, world.now + limits.lease)
  return true
}

/** The claim, if it is still this token's; it is gone then. */
function unbind(redis: Redis, id: string, token: string): BoundProduct | undefined {
  const bound = redis.claimed.get(id)
  if (bound?.token !== token) return undefined
  redis.claimed.delete(id)
  return bound
}

/** A call may have taken effect. With `echoAt` it may also take effect later. */
function doubt(redis: Redis, id: string, echoFrom?: number): void {
  redis.acknowledged.set(id, '')
  if (echoFrom !== undefined) echoAt(redis, id, echoFrom)
}

/**
 * Reports need no guard: what is told of a claim that Redis holds no more leaves a doubt, and a loss that is not repaired
 * yet will make the product doubtful in any case.
 */
export function acknowledge(
  world: World,
  { token, documents }: { token: string; documents: ReadonlyMap<string, Document> },
): void {
  const { redis, rules, now } = world
  let count = 0
  for (const [id, document] of documents) {
    const bound = unbind(redis, id, token)
    if (!bound) {
      if (rules['who holds no claim leaves a doubt']) doubt(redis, id, now)
      continue
    }
    count++
    const digest = digestOf(document)
    redis.acknowledged.set(id, unique(world, digest, token))
    endEcho(redis, id, bound.began)
    const wanted = redis.pending.get(id)
    if (wanted === undefined || wanted === digest || isReplaced(world, bound, wanted))
      forgetDocument(redis, id)
    else if (!redis.queued.has(id) && !redis.dead.has(id))
      enterLane(redis, id, { lane: 'urgent', score: now })
  }
  redis.leases.delete(token)
  if (count > 0) endRefusals(redis)
}

/** The newest document was sent in place of the one that was claimed, which waits no longer. */
function isReplaced({ rules }: World, { digest }: BoundProduct, wanted: string): boolean {
  return digest === wanted && rules['a newer document settles the claimed one']
}

function endEcho(redis: Redis, id: string, began: number): void {
  const due = redis.echoes.get(id)
  if (due !== undefined && due <= began) redis.echoes.delete(id)
  if (!redis.echoes.has(id)) redis.requests.delete(id)
}

/** Something was accepted: what was refused before is refused for good. */
function endRefusals(redis: Redis): void {
  for (const id of redis.refusals.keys()) forgetDocument(redis, id)
  redis.refusals.clear()
  redis.refusedInARow = []
}

export type ReleaseOutcome = 'not-sent' | 'sent' | 'unknown'

export function release(
  world: World,
  { token, ids, outcome }: { token: string; ids: Iterable<string>; outcome: ReleaseOutcome },
): void {
  const { redis, rules, now } = world
  for (const id of ids) {
    const bound = unbind(redis, id, token)
    if (bound) restore(redis, id, { bound, now })
    if (outcome === 'not-sent' || !(bound || rules['who holds no claim leaves a doubt'])) continue
    if (outcome === 'unknown') doubt(redis, id, now + limits.horizon)
    else doubt(redis, id, bound ? undefined : now)
  }
  redis.leases.delete(token)
}

/** Back to its lane, where it is still wanted. */
function restore(redis: Redis, id: string, { bound, now }: { bound: BoundProduct; now: number }): void {
  if (!redis.pending.has(id) || redis.dead.has(id) || redis.refusals.has(id)) return
  const { lane, score } = bound
  if (lane !== 'echo') enterLane(redis, id, { lane, score })
  else if (!redis.queued.has(id)) enterLane(redis, id, { lane: 'urgent', score: now })
}

/** Claims whose lease has ended: their calls may run on until their time-out. */
export function expire(world: World): void {
  const { redis, rules, now } = world
  const runsFor = rules['an expiry waits for the time-out'] ? Math.max(0, limits.timeout - limits.lease) : 0
  for (const [token, ends] of [...redis.leases]) {
    if (ends > now) continue
    redis.leases.delete(token)
    for (const [id, bound] of [...redis.claimed]) {
      if (bound.token !== token) continue
      redis.claimed.delete(id)
      restore(redis, id, { bound, now })
      doubt(redis, id, rules['an expired claim is echoed'] ? now + limits.horizon + runsFor : undefined)
    }
  }
}

/** The endpoint refused a product. `unnamed`: it refused the call, and nothing was accepted in between. */
export function reject(
  world: World,
  {
    token,
    documents,
    unnamed,
  }: { token: string; documents: ReadonlyMap<string, Document>; unnamed: boolean },
): void {
  const { redis } = world
  for (const [id, document] of documents) {
    const bound = unbind(redis, id, token)
    if (!bound) continue
    const wanted = redis.pending.get(id)
    const digest = digestOf(document)
    if (wanted !== undefined && wanted !== digest && !isReplaced(world, bound, wanted)) {
      if (!redis.queued.has(id)) enterLane(redis, id, { lane: 'urgent', score: world.now })
    } else bury(world, id, { document, unnamed, bound })
  }
  redis.leases.delete(token)
  if (redis.refusedInARow.length >= limits.refusedInARow) takeBack(world)
}

function bury(
  world: World,
  id: string,
  { document, unnamed, bound }: { document: Document; unnamed: boolean; bound: BoundProduct },
): void {
  const { redis, rules } = world
  const { began, lane } = bound
  const digest = digestOf(document)
  redis.queued.delete(id)
  redis.counted.delete(id)
  const isEcho = (redis.echoes.get(id) ?? Number.POSITIVE_INFINITY) <= began
  // It has healed nothing: an edit that is undone now is sent all the same.
  if (isEcho && rules['a refused echo leaves a doubt']) doubt(redis, id)
  if (rules['an echo outlives a refusal']) endEcho(redis, id, began)
  else redis.echoes.delete(id)
  redis.refused++
  redis.dead.set(id, unique(world, digest, String(redis.refused)))
  if (unnamed) redis.refusedInARow.push({ id, lane: lane === 'echo' ? 'urgent' : lane })
  if (unnamed && rules['refusals keep their documents']) {
    redis.refusals.set(id, digest)
    redis.pending.set(id, digest)
  } else forgetDocument(redis, id)
}

/** So many refusals in a row mean something else: none of them counts. */
function takeBack({ redis, now }: World): void {
  for (const { id, lane } of redis.refusedInARow) {
    if (!redis.refusals.delete(id)) continue
    enterLane(redis, id, { lane, score: now })
    redis.dead.delete(id)
    // The mirror may have it among its dead letters already.
    doubt(redis, id)
  }
  redis.refusedInARow = []
  redis.paused.set('refuses-everything', now)
}
