import { drain, numberDue } from './mirror.ts'
import { offer, passesGuard, readFields, removeFields, roomIn, serve, servedCount } from './scripts.ts'
import { type Installation, type Lane, type Loop, limits, type Mirror, type World } from './state.ts'

// The loop beside the one writer, in the smallest steps between which anything else may happen.

export function freshLoop(): Loop {
  return {
    runId: 0,
    state: 'compare',
    refusal: undefined,
    step: 0,
    beat: 'none',
    done: new Set(),
    drain: undefined,
    pump: undefined,
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
    if (fields.acknowledged.length + fields.dead.length > 0) loop.drain = { ...fields, applied: false }
  } else if (!taken.applied) {
    transact(world, installation, (durable) => drain(durable, taken, { rules, now }))
    taken.applied = true
  } else if (mayAct(world, installation)) {
    removeFields(world, taken)
    loop.drain = undefined
  }
}

/** Reads places behind the position of a lane, then offers them with the new position: a step each. */
export function stepPump(world: World, installation: Installation, lane: Lane): void {
  const { loop } = installation
  if (loop.pump) {
    offerPortion(world, installation)
    return
  }
  if (!mayDo(world, installation, lane)) return
  if (hasFallenBack(world, installation)) return
  const rows = rowsBehind(world, installation, lane)
  loop.done.add(lane)
  const last = rows.at(-1)
  if (!last) return
  if (world.rules['offered is noted before the offer']) {
    transact(world, installation, ({ offered }) => {
      offered[lane] = Math.max(offered[lane], last.number)
    })
  }
  loop.pump = { lane, written: world.redis.written, rows }
}

function rowsBehind(world: World, { mirror }: Installation, lane: Lane) {
  const position = world.redis.positions[lane]
  return [...mirror.rows]
    .flatMap(([id, row]) => {
      const { document, digest, acknowledged, number } = row
      if (row.lane !== lane || number === null || number <= position) return []
      return [{ id, document, digest, undone: digest === acknowledged, number }]
    })
    .sort((one, other) => one.number - other.number)
    .slice(0, Math.max(0, roomIn(world, lane)))
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
  const { lane } = portion
  for (const row of portion.rows) {
    offer(world, { ...row, lane })
    redis.positions[lane] = row.number
  }
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
    const asked = [...redis.requests].slice(0, room)
    if (asked.length > 0) loop.serve = asked.map((id) => [id, mirror.rows.get(id)?.document])
  }
}

export function stepNumber(world: World, installation: Installation): void {
  transact(world, installation, (mirror) => numberDue(mirror, world.now))
}

/** A pause is durable first, then Redis is told. */
export function tellPause(world: World, installation: Installation): void {
  if (!mayAct(world, installation)) return
  writePause(world, installation)
}

export function writePause({ redis }: World, installation: Installation): void {
  const { paused } = installation.mirror
  if (paused) redis.paused.add('operator')
  else redis.paused.delete('operator')
  installation.pauseTold = paused
}
