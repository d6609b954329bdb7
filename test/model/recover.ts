import { compareAgain, transact } from './loop.ts'
import { doubtAfterLoss, startOverWithNext } from './mirror.ts'
import { emptyOutbox, namesIn, setGuard } from './scripts.ts'
import { type Guard, type Installation, type Loop, lanes, limits, type Mirror, type World } from './state.ts'

// Comparing, repairing a loss, starting over. Each step may be the last before a crash.

const afterLoss = limits.lease + limits.timeout + limits.horizon

/** Whether mirror and Redis belong together. Everything that is not sure is repaired or refused. */
export function compare(world: World, installation: Installation): void {
  const { loop, mirror } = installation
  compareAgain(loop)
  loop.runId = world.redis.runId
  loop.session = ++world.made
  loop.refusal = refusalOf(world, installation)
  if (loop.refusal) refuse(world, installation)
  else if (mirror.startOver !== null) loop.state = 'start-over'
  else if (isLoss(world, installation)) {
    if (world.redis.guard?.runId !== world.redis.runId) notice(installation)
    loop.state = 'repair'
  } else {
    loop.state = 'run'
    installation.compared = true
    if (world.redis.beat > mirror.beat) {
      transact(world, installation, (durable) => {
        durable.beat = world.redis.beat
      })
    }
    acceptCleanClose(world, installation)
  }
}

/** What Redis knows of a newer mirror is remembered: it may be wiped before the operator has looked. */
function refuse(world: World, installation: Installation): void {
  const { loop, mirror: own } = installation
  const isBehind =
    loop.refusal === 'behind' || (loop.refusal === 'foreign' && world.redis.guard?.mirrorId === own.id)
  loop.state = 'refused'
  installation.compared = false
  if (!isBehind || !world.rules['a mirror that is behind remembers it']) return
  transact(world, installation, (mirror) => {
    mirror.behind = true
  })
}

function knownGenerations({ generation, former }: Mirror): string[] {
  return [generation, ...former]
}

function refusalOf({ redis, rules }: World, { mirror, inode }: Installation): Loop['refusal'] {
  const { guard } = redis
  if (mirror.inode !== inode && rules['inodes are compared']) return 'copy'
  if (mirror.behind) return 'behind'
  if (!guard) return undefined
  const isForeign = !knownGenerations(mirror).includes(guard.generation)
  if (isForeign) return rules['opening compares the guard'] ? 'foreign' : undefined
  if (mirror.startOver !== null || guard.generation !== mirror.generation) return undefined
  const isBehind =
    redis.beat > mirror.beat + 1 || lanes.some((lane) => redis.positions[lane] > mirror.last[lane])
  return isBehind && rules['a mirror that is behind is refused'] ? 'behind' : undefined
}

function isLoss({ redis, rules }: World, { mirror, closedRunId }: Installation): boolean {
  const { guard, beat, runId } = redis
  if (!guard?.open || guard.generation !== mirror.generation) return true
  if (beat < mirror.beat && rules['beats are compared']) return true
  if (!rules['run ids are compared']) return false
  return runId !== mirror.runId && closedRunId !== mirror.runId
}

/** An embedded server that was closed cleanly has forgotten nothing. */
function acceptCleanClose(world: World, installation: Installation): void {
  const { runId, guard } = world.redis
  if (!guard || guard.runId === runId) return
  transact(world, installation, (mirror) => {
    mirror.runId = runId
  })
  installation.closedRunId = -1
  world.redis.guard = { ...guard, runId }
  world.redis.written++
}

/** For the oracle: nothing older is sent from now on. */
function notice(installation: Installation): void {
  installation.noticed = new Map([...installation.mirror.rows].map(([id, { document }]) => [id, document]))
}

type Step = (world: World, installation: Installation) => boolean

/** Done one after the other; a step that fails leads back to comparing. */
const repairSteps: readonly Step[] = [closeGuard, doubtWhatWasKnown, openAfterLoss, rememberRun]

export function stepRepair(world: World, installation: Installation): void {
  const { loop } = installation
  if (loop.state !== 'repair') return
  const opensLast = world.rules['a repair opens last']
  const steps = opensLast ? repairSteps : [openAfterLoss, rememberRun, doubtWhatWasKnown]
  stepThrough(world, installation, steps)
}

function stepThrough(world: World, installation: Installation, steps: readonly Step[]): void {
  const { loop } = installation
  const step = steps[loop.step]
  if (!step?.(world, installation)) compareAgain(loop)
  else if (++loop.step === steps.length) compareAgain(loop)
}

function guardOf({ mirror, owner, loop }: Installation): Guard {
  const { runId, session } = loop
  return {
    mirrorId: mirror.id,
    generation: mirror.generation,
    owner,
    runId,
    session,
    open: false,
    echoUntil: 0,
  }
}

/** Whose keys they are is said when they are emptied: a Redis that falls back to now shows what it holds. */
function closeGuard(world: World, installation: Installation): boolean {
  if (installation.loop.runId !== world.redis.runId) return false
  const known = knownGenerations(installation.mirror)
  const { session } = installation.loop
  const present = world.redis.guard ?? guardOf(installation)
  if (!setGuard(world, { ...present, open: false, session }, { known })) return false
  world.redis.claimed.clear()
  world.redis.leases.clear()
  const { startOver, callsFrom } = installation.mirror
  if (startOver === null && world.rules['a loss does not end the wait'])
    world.redis.heldUntil = Math.max(world.redis.heldUntil, callsFrom)
  notice(installation)
  return true
}

/** Redis is still the one whose guard this loop closed. */
function isClosedByUs({ redis, rules }: World, { loop }: Installation): boolean {
  const { guard } = redis
  if (redis.runId !== loop.runId) return false
  if (!rules['a repair opens last']) return true
  return guard !== null && !guard.open && guard.session === loop.session
}

/** Acknowledgements are taken out here: what comes until the guard opens is drained afterwards. */
function doubtWhatWasKnown(world: World, installation: Installation): boolean {
  if (!isClosedByUs(world, installation)) return false
  const { rules, now, redis } = world
  transact(world, installation, (mirror) => doubtAfterLoss(mirror, namesIn(redis), { rules, now }))
  if (rules['a loss empties Redis']) redis.acknowledged.clear()
  return true
}

/** Before the first start nothing was sent that could take effect late. */
function openAfterLoss(world: World, installation: Installation): boolean {
  const lateFor = installation.mirror.runId === 0 ? 0 : afterLoss
  return openGuard(world, installation, { keeps: 'acknowledged', echoUntil: world.now + lateFor })
}

function openAfresh(world: World, installation: Installation): boolean {
  return openGuard(world, installation, { keeps: 'nothing', echoUntil: world.now })
}

/** One script: Redis is emptied, and belongs to this mirror. */
function openGuard(
  world: World,
  installation: Installation,
  { keeps, echoUntil }: { keeps: 'acknowledged' | 'nothing'; echoUntil: number },
): boolean {
  if (!isClosedByUs(world, installation)) return false
  const { redis, rules } = world
  const known = knownGenerations(installation.mirror)
  if (!setGuard(world, { ...guardOf(installation), open: true, echoUntil }, { known })) return false
  const { acknowledged } = redis
  if (keeps === 'nothing' || rules['a loss empties Redis']) emptyOutbox(redis)
  if (keeps === 'acknowledged') redis.acknowledged = acknowledged
  redis.beat = installation.mirror.beat
  return true
}

function rememberRun(world: World, installation: Installation): boolean {
  transact(world, installation, (mirror) => {
    mirror.runId = installation.loop.runId
    mirror.startOver = null
  })
  return true
}

/** The operator takes this mirror for the catalog's own, and what Redis holds unless it is another's: all is sent again. */
export function adopt(world: World, installation: Installation): void {
  const { guard } = world.redis
  transact(world, installation, (mirror) => {
    const isOwn = guard?.owner === installation.owner || guard?.mirrorId === mirror.id
    const former = [...mirror.former, mirror.generation, ...(guard && isOwn ? [guard.generation] : [])]
    mirror.former = [...new Set(former)]
    mirror.generation = `g${++world.made}`
    mirror.startOver = 0
    mirror.behind = false
    mirror.inode = installation.inode
  })
  compareAgain(installation.loop)
}

const startOverSteps: readonly Step[] = [closeGuard, holdCalls, placeAll, openAfresh, rememberRun]

export function stepStartOver(world: World, installation: Installation): void {
  const { loop, mirror } = installation
  if (loop.state !== 'start-over') return
  const { guard } = world.redis
  const wasOpened = guard?.open && guard.generation === mirror.generation
  // A crash came between the last two steps.
  if (wasOpened && loop.step === 0) {
    transact(world, installation, (durable) => {
      durable.runId = guard.runId
      durable.startOver = null
    })
    compareAgain(loop)
    return
  }
  const before = loop.step
  stepThrough(world, installation, startOverSteps)
  const isPlacing = startOverSteps[before] === placeAll && loop.state === 'start-over'
  if (isPlacing && (mirror.startOver ?? 0) < mirror.rows.size) loop.step = before
}

/** No call begins before none of the time before can take effect any more. */
function holdCalls(world: World, installation: Installation): boolean {
  if (!isClosedByUs(world, installation)) return false
  const { redis, rules, now } = world
  if (!rules['starting over waits']) return true
  transact(world, installation, (mirror) => {
    mirror.callsFrom = now + afterLoss
  })
  redis.heldUntil = Math.max(redis.heldUntil, now + afterLoss)
  return true
}

function placeAll(world: World, installation: Installation): boolean {
  const { rules, now } = world
  transact(world, installation, (mirror) => startOverWithNext(mirror, { rules, now }))
  return true
}
