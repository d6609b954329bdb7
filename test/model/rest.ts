import { importEdits, run, turn } from './commands.ts'
import { apply, claimCall, deadlineOf, finishCall, sendCall } from './delivery.ts'
import { expire } from './delivery-scripts.ts'
import {
  badText,
  digestOf,
  type Installation,
  limits,
  type Process,
  sameFields,
  second,
  type World,
} from './state.ts'

// What must hold once all faults are over and everybody has had time enough.

const roundsMax = 120

/** Lets everything go on fairly until nothing is left to do, and says what is wrong then. */
export function violationsAtRest(world: World): string[] {
  for (let round = 0; round < roundsMax && world.violations.length === 0; round++) {
    playRound(world, round)
    if (round >= 3 && isAtRest(world))
      return [...world.violations, ...world.installations.flatMap((each) => judge(world, each))]
  }
  return world.violations.length > 0
    ? world.violations
    : [`not at rest after ${roundsMax} rounds: ${describe(world)}`]
}

export function playRound(world: World, round: number): void {
  for (const installation of world.installations) {
    if (!installation.started) continue
    installation.endpoint.refusesAll = false
    if (world.redis.paused.size > 0 || installation.pauseTold)
      run(world, { kind: 'pause', at: installation.owner, on: false })
    importEdits(world, installation, Number.POSITIVE_INFINITY)
    run(world, { kind: 'adopt', at: installation.owner })
    for (let time = 0; time < 8; time++) turn(world, installation)
    run(world, { kind: 'tell-pause', at: installation.owner })
    for (const process of installation.processes) deliverAll(world, installation, process)
    turn(world, installation)
  }
  const next = world.now + (round % 4 === 0 ? 2 : 1) * second
  // Whatever was sent before is applied as late as it can be.
  for (const { endpoint } of world.installations) {
    for (const request of endpoint.requests) if (deadlineOf(request) <= next) apply(endpoint, request)
  }
  world.now = next
}

function deliverAll(world: World, installation: Installation, process: Process): void {
  const finishAll = () => {
    for (const call of process.calls) {
      sendCall(world, installation, { call })
      finishCall(world, installation, { process, call, ending: 'answered' })
    }
  }
  finishAll()
  expire(world)
  for (let call = 0; call < 6; call++) {
    claimCall(world, installation, { process, mode: call % 3 === 2 ? 'urgent' : 'any' })
    finishAll()
  }
}

/** One whose guard stands in Redis, or who may set it: who was refused has been told what to do. */
function isActive({ started, loop }: Installation): boolean {
  return started && loop.state !== 'refused'
}

export function isAtRest(world: World): boolean {
  const { redis, installations } = world
  const { documents, pending, queued, claimed, echoes, requests, acknowledged, dead, refusals } = redis
  if (
    installations.some(
      ({ endpoint, processes }) =>
        endpoint.requests.length > 0 || processes.some(({ calls }) => calls.length > 0),
    )
  )
    return false
  const isRefusal = (id: string) => refusals.has(id)
  const active = installations.filter(isActive)
  if (!active.every(({ loop }) => loop.state === 'run')) return false
  // A Redis whose guard nobody may change holds what it held.
  if (active.length === 0) return true
  const held = [documents, pending, queued, claimed, echoes, requests, acknowledged, dead].flatMap((keys) => [
    ...keys.keys(),
  ])
  if (!held.every(isRefusal) || queued.size + claimed.size + acknowledged.size > 0) return false
  return active.every(({ mirror }) =>
    [...mirror.rows].every(([id, { lane }]) => lane === null || isRefusal(id)),
  )
}

function judge({ redis }: World, installation: Installation): string[] {
  const { mirror, endpoint, accepted, owner } = installation
  const foreign = [...endpoint.products.values()].some((document) => document.owner !== owner)
  if (foreign) return ['the endpoint holds what another installation made']
  if (!isActive(installation)) return []
  return [...accepted].flatMap(([id, document]) => {
    const digest = digestOf(document)
    const isRefused = endpoint.refused.has(`${id} ${digest}`)
    const isDead = mirror.rows.get(id)?.dead === digest
    if (isRefused && (isDead || redis.refusals.get(id) === digest)) return []
    if (isDead) return [`${id} is a dead letter, though the endpoint never refused it`]
    if (document.text === badText) return [`${id} is refused by the endpoint, and is no dead letter`]
    const held = endpoint.products.get(id)
    if (held && sameFields(held, document)) return []
    return [`at rest the endpoint holds ${held ? digestOf(held) : 'nothing'} of ${id}, newest is ${digest}`]
  })
}

function describe({ redis, installations }: World): string {
  const states = installations.map(({ loop, mirror, started }) => ({
    state: started ? loop.state : 'absent',
    refusal: loop.refusal,
    places: [...mirror.rows].flatMap(([id, { lane, number, digest, acknowledged }]) =>
      lane ? [`${id} ${lane} ${number} ${digest} ${acknowledged}`] : [],
    ),
  }))
  return JSON.stringify({ states, redis }, (_, value) =>
    value instanceof Map || value instanceof Set ? [...value] : value,
  )
}

/** What must hold in every moment. */
export function checkAlways(world: World): void {
  for (const lane of ['urgent', 'new', 'deferred'] as const) {
    const counted = [...world.redis.counted.values()].filter((each) => each === lane).length
    if (counted > limits.pendingPerLane + limits.refusedInARow)
      world.violations.push(`${counted} documents wait in ${lane}`)
  }
}
