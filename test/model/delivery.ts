import {
  acknowledge,
  type Caller,
  claim,
  type ReleaseOutcome,
  reject,
  release,
  renew,
} from './delivery-scripts.ts'
import {
  badText,
  type Call,
  type Document,
  digestOf,
  type Endpoint,
  type Installation,
  limits,
  type Process,
  type Request,
  type World,
} from './state.ts'

// Delivering processes and the endpoint they send to.

/**
 * How a call ends. `answered`: the endpoint's own answer. `failed`: it answers 500 and does nothing; `failed-applied`: it
 * did all the same. `unknown`: no answer, and the request may take effect until the horizon. `not-sent`: it never left.
 */
export type Ending = 'answered' | 'failed' | 'failed-applied' | 'unknown' | 'not-sent'

/**
 * With what a process asks the guard: the Redis that its connection leads to, and what the guard names if that is of this
 * process's endpoint. Both are read again after a refusal.
 */
function callerOf({ redis, rules }: World, { owner }: Installation): Caller {
  const { guard, runId } = redis
  const isOurs = guard?.owner === owner || !rules['the guard compares generations']
  return { runId, generation: guard && isOurs ? guard.generation : '' }
}

export function claimCall(
  world: World,
  installation: Installation,
  { process, mode }: { process: Process; mode: 'urgent' | 'any' },
): void {
  const token = `t${++world.made}`
  const { mirror, compared, processes } = installation
  const isReader = compared && process === processes[1] && world.rules['who has the mirror reads there']
  const reader = isReader ? mirror : undefined
  const documents = claim(world, callerOf(world, installation), { token, mode, mirror: reader })
  if (!documents) return
  checkClaim(world, installation, documents)
  const { now } = world
  const leaseEnds = now + limits.lease
  process.calls.push({ token, documents, leaseEnds, request: undefined })
}

/** What no call may carry. */
function checkClaim(
  world: World,
  { owner, noticed, pauseTold }: Installation,
  documents: ReadonlyMap<string, Document>,
): void {
  if (pauseTold) world.violations.push('a call begins while the operator has paused')
  for (const [id, document] of documents) {
    if (document.owner !== owner) world.violations.push(`${id} of another installation is sent`)
    const held = noticed.get(id)
    if (held && document.version < held.version && digestOf(document) !== digestOf(held)) {
      world.violations.push(`after a loss was noticed, ${id} is sent in an older state than the mirror held`)
    }
  }
}

/** The request leaves. No call starts once its lease has ended by the process's own clock. */
export function sendCall(
  world: World,
  { endpoint }: Installation,
  { call, overslept = false }: { call: Call; overslept?: boolean },
): void {
  if (call.request || (call.leaseEnds <= world.now && !overslept)) return
  call.request = { documents: call.documents, began: world.now, ended: undefined, refused: undefined }
  endpoint.requests.push(call.request)
}

export function renewCall(world: World, installation: Installation, { call }: { call: Call }): void {
  if (renew(world, callerOf(world, installation), call.token)) call.leaseEnds = world.now + limits.lease
}

/** The process learns how its call ended, and says so to Redis. */
export function finishCall(
  world: World,
  installation: Installation,
  { process, call, ending }: { process: Process; call: Call; ending: Ending },
): void {
  const { endpoint } = installation
  const { request, token, documents } = call
  process.calls = process.calls.filter((each) => each !== call)
  const outcome = outcomeOf(world, { request, ending })
  if (request) {
    request.ended = world.now
    if (outcome === 'answered' || ending === 'failed-applied') apply(endpoint, request)
    if (outcome !== 'unknown') forget(endpoint, request)
  }
  if (outcome !== 'answered') {
    release(world, { token, ids: documents.keys(), outcome })
    return
  }
  const refused = new Map([...documents].filter(([id]) => request?.refused?.has(id)))
  const accepted = new Map([...documents].filter(([id]) => !refused.has(id)))
  if (refused.size > 0) {
    const inARow = [...world.redis.refusedInARow.map(({ id }) => id), ...refused.keys()]
    reject(world, { token, documents: refused, unnamed: endpoint.refusesAll })
    if (inARow.length >= limits.refusedInARow) checkTakenBack(world, installation, inARow)
  }
  if (accepted.size > 0) acknowledge(world, { token, documents: accepted })
}

/** Where all is refused, nothing is buried. */
function checkTakenBack(
  { redis, violations }: World,
  { mirror }: Installation,
  ids: readonly string[],
): void {
  if (redis.refusedInARow.length > 0) return
  const isBuried = (id: string) => {
    const row = mirror.rows.get(id)
    return redis.dead.has(id) || (row?.dead !== null && row?.lane === null)
  }
  const buried = ids.filter(isBuried)
  if (buried.length > 0) violations.push(`everything is refused, and ${buried.join()} became a dead letter`)
}

function outcomeOf(
  world: World,
  { request, ending }: { request: Request | undefined; ending: Ending },
): 'answered' | ReleaseOutcome {
  if (!request) return 'not-sent'
  const isApplied = request.refused !== undefined
  const isLate = world.now > request.began + limits.timeout
  if (ending === 'answered') return isLate && !isApplied ? 'unknown' : 'answered'
  if (ending === 'unknown' || ending === 'not-sent' || isLate) return 'unknown'
  return 'sent'
}

/** A request takes effect, though nobody may learn of it. */
export function apply(endpoint: Endpoint, request: Request): void {
  if (request.refused) return
  request.refused = new Set()
  for (const [id, document] of request.documents) {
    if (endpoint.refusesAll || document.text === badText) {
      request.refused.add(id)
      endpoint.refused.add(`${id} ${digestOf(document)}`)
    } else endpoint.products.set(id, document)
  }
  forget(endpoint, request)
}

function forget(endpoint: Endpoint, request: Request): void {
  endpoint.requests = endpoint.requests.filter((each) => each !== request)
}

/** Until when a request may still take effect. */
export function deadlineOf({ began, ended }: Request): number {
  return Math.min(ended ?? Number.POSITIVE_INFINITY, began + limits.timeout) + limits.horizon
}

/** What is past its horizon never takes effect. */
export function forgetOld({ endpoint }: Installation, now: number): void {
  if (endpoint.requests.length > 0)
    endpoint.requests = endpoint.requests.filter((request) => deadlineOf(request) > now)
}

/** The process dies; what it sent goes on. */
export function crashProcess(world: World, process: Process): void {
  for (const { request } of process.calls) if (request) request.ended = world.now
  process.calls = []
}
