import { drain, numberDue } from './mirror.ts'
import {
  inOrder,
  offer,
  passesGuard,
  readFields,
  removeFields,
  roomIn,
  serve,
  servedCount,
} from './scripts.ts'
import {
  type Installation,
  type Lane,
  type Loop,
  lanes,
  limits,
  type Mirror,
  type Offer,
  type Portion,
  type World,
} from './state.ts'

// The loop beside the one writer, in the smallest steps between which anything else may happen.

export function freshLoop(): Loop {
  return {
    runId: 0,
    session: 0,
    state: 'compare',
    refusal: undefined,
    step: 0,
    beat: 'none',
    done: new Set(),
    drain: undefined,
    told: { letters: 0, refused: 0 },
    pump: undefined,
    wasUrgent: false,
    serve: undefined,
  }
}

/** One transaction of the mirror. */
export function transact(
  { rules }: World,
  installation: Installation,
  change: (mirror: Mirror) => void,
): void {
  change(installation.mirror)
  if (rules['durable before offered']) installation.durable = installation.mirror
}

/** Whether the loop's scripts act; if not, all is compared again. */
export function mayAct(world: World, { loop, mirror }: Installation): boolean {
  if (loop.state !== 'run') return false
  const isConnected = loop.runId === world.redis.runId
  if (isConnected && passesGuard(world, { generation: mirror.generation, runId: loop.runId })) return true
  compareAgain(loop)
  return false
}

export function compareAgain(loop: Loop): void {
  Object.assign(loop, { ...freshLoop(), refusal: loop.refusal })
}

/** The beat is raised in Redis, then it is durable; nothing is done in a turn before. */
export function raiseBeat(world: World, installation: Installation): void {
  const { loop, mirror } = installation
  if (!mayAct(world, installation)) return
  if (loop.beat === 'raised') {
    const { beat } = world.redis
    const isOther = beat !== mirror.beat + 1
    if (isOther && world.rules['beats are compared']) {
      compareAgain(loop)
      return
    }
    transact(world, installation, (durable) => {
      durable.beat = beat
      if (!world.rules['offered is noted before the offer'])
        Object.assign(durable.offered, world.redis.positions)
    })
    loop.beat = 'durable'
    loop.done.clear()
  } else {
    if (hasFallenBack(world, installation)) return
    world.redis.beat = mirror.beat + 1
    loop.beat = 'raised'
  }
}

/** Redis knows less than the mirror remembers: all is compared again. */
function hasFallenBack({ redis, rules }: World, { loop, mirror }: Installation): boolean {
  if (redis.beat >= mirror.beat || !rules['beats are compared']) return false
  compareAgain(loop)
  return true
}

/** Whether this turn may still do such work. */
function mayDo(world: World, installation: Installation, work: 'drain' | 'serve' | Lane): boolean {
  const { loop } = installation
  if (!mayAct(world, installation)) return false
  return loop.beat === 'durable' && !loop.done.has(work)
}

/** Reads what Redis has learned, makes it durable, removes it: a step each. */
export function stepDrain(world: World, installation: Installation): void {
  const { loop } = installation
  const { rules, now, redis } = world
  const taken = loop.drain
  if (!taken) {
    if (!mayDo(world, installation, 'drain')) return
    if (hasFallenBack(world, installation)) return
    const fields = readFields(redis)
    loop.done.add('drain')
    loop.drain = { ...fields, applied: false }
  } else if (!taken.applied) {
    transact(world, installation, (durable) => drain(durable, taken, { rules, now }))
    taken.applied = true
  } else if (mayAct(world, installation)) {
    removeFields(world, taken)
    loop.told = { letters: taken.dead.filter(([, , held]) => held).length, refused: taken.refused }
    loop.drain = undefined
  }
}

/** Whether there is anything to drain. */
export function hasReports({ redis }: World, { loop }: Installation): boolean {
  const { acknowledged, dead, refused } = redis
  const { letters, refused: known } = loop.told
  return acknowledged.size > 0 || dead.size !== letters || (dead.size > 0 && refused !== known)
}

/** Whether there is anything to offer of the lane. */
export function isBehind({ redis, rules }: World, { mirror }: Installation, lane: Lane): boolean {
  return mirror.last[lane] > redis.positions[lane] && roomIn({ redis, rules }, lane) > 0
}

/** Whether there is anything to offer or to serve. */
export function hasOffers(world: World, installation: Installation): boolean {
  const { redis } = world
  const serves = redis.requests.size > 0 && servedCount(redis) < limits.servedAtOnce
  return lanes.some((lane) => isBehind(world, installation, lane)) || serves
}

/** Reads places behind the positions of lanes, then offers them with the new positions: a step each. */
export function stepPump(world: World, installation: Installation, among: readonly Lane[]): void {
  const { loop, mirror } = installation
  if (loop.pump) {
    offerPortion(world, installation)
    return
  }
  // Redis, which is filled again after a wipe, knows of the pause before it has anything to claim.
  if (world.rules['a pause is told again']) tellPause(world, installation)
  const portion: Portion = { written: world.redis.written, offers: [], positions: {} }
  for (const lane of among) {
    if (!mayDo(world, installation, lane)) continue
    if (hasFallenBack(world, installation)) return
    loop.done.add(lane)
    const position = world.redis.positions[lane]
    const room = roomIn(world, lane)
    if (mirror.last[lane] <= position || room <= 0) continue
    const offers = offersBehind(mirror, { lane, position }).slice(0, room)
    const last = offers.at(-1)?.number
    portion.offers.push(...offers)
    // Numbers that nobody has any more end the lane.
    portion.positions[lane] = last ?? mirror.last[lane]
    if (last === undefined || !world.rules['offered is noted before the offer']) continue
    transact(world, installation, ({ offered }) => {
      offered[lane] = Math.max(offered[lane], last)
    })
  }
  if (Object.keys(portion.positions).length > 0) loop.pump = portion
}

function offersBehind(mirror: Mirror, { lane, position }: { lane: Lane; position: number }): Offer[] {
  return [...mirror.rows]
    .flatMap(([id, row]): Offer[] => {
      const { document, digest, acknowledged, number, since } = row
      if (row.lane !== lane || number === null || number <= position) return []
      const kind = acknowledged === '' ? 'doubt' : digest === acknowledged ? 'undone' : 'change'
      return [{ id, document, digest, lane, kind, number, since }]
    })
    .sort((one, other) => one.number - other.number)
}

function offerPortion(world: World, installation: Installation): void {
  const { loop } = installation
  const { redis } = world
  const portion = loop.pump
  loop.pump = undefined
  if (!portion || !mayAct(world, installation)) return
  if (portion.written !== redis.written) {
    compareAgain(loop)
    return
  }
  for (const each of portion.offers) offer(world, each)
  Object.assign(redis.positions, portion.positions)
  redis.written++
}

/** Reads documents for echoes that wait for one, then hands them out: a step each. */
export function stepServe(world: World, installation: Installation): void {
  const { loop, mirror } = installation
  const { redis } = world
  if (loop.serve) {
    if (mayAct(world, installation)) for (const [id, document] of loop.serve) serve(world, id, document)
    loop.serve = undefined
  } else if (mayDo(world, installation, 'serve')) {
    if (hasFallenBack(world, installation)) return
    loop.done.add('serve')
    const room = Math.max(0, limits.servedAtOnce - servedCount(redis))
    const asked = inOrder(redis.requests, (id) => redis.echoes.get(id) ?? 0).slice(0, room)
    if (asked.length > 0) loop.serve = asked.map((id) => [id, mirror.rows.get(id)?.document])
  }
}

export function stepNumber(world: World, installation: Installation): void {
  transact(world, installation, (mirror) => numberDue(mirror, world.now))
}

/** The operator's decision is durable first, then Redis is told, whatever it has forgotten. */
export function tellPause(world: World, installation: Installation): void {
  if (!mayAct(world, installation)) return
  writePause(world, installation)
}

export function writePause({ redis }: World, installation: Installation): void {
  const { calls } = installation.mirror
  if (calls?.paused && !redis.paused.has('operator')) redis.paused.set('operator', calls.at)
  if (calls?.paused === false && redis.resumedAt !== calls.at) {
    redis.paused.delete('operator')
    if ((redis.paused.get('refuses-everything') ?? calls.at) <= calls.at)
      redis.paused.delete('refuses-everything')
    redis.resumedAt = calls.at
  }
  installation.pauseTold = calls?.paused === true
}
