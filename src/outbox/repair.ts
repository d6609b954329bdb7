import type { ProductId } from '../lib/brand.ts'
import { lanes, ownerOf } from './compare.ts'
import { readDrained, removeDrained } from './drain.ts'
import { type GuardState, guardFields } from './guard.ts'
import { afterOthers, checkSession, type LoopAccess } from './loop-access.ts'
import { leaseMs } from './model.ts'
import { unpackFields } from './packed-list.ts'
import type { LaneState } from './pump.ts'

const rowsMax = 2_000
export interface RepairAccess extends LoopAccess {
  /** Once it is durable that all is offered again, and before the guard is shut: what begins until then is echoed. */
  forgetNewCalls: () => void
}

const nothingOffered = { urgent: 0, new: 0, deferred: 0 }

/**
 * Redis forgot something, or processes with older scripts may go on with it: whatever it may have held is doubtful, is
 * offered again and echoed. Each step may be repeated; a crash begins again at the first.
 */
export async function repair(access: RepairAccess, cause: 'lost' | 'updated'): Promise<void> {
  const { mirror, clock, log } = access
  const { runId, repairing, callsFromMs = 0 } = mirror.readIdentity()
  const isFirst = runId === undefined
  const isLoss = cause === 'lost' && !isFirst && repairing === undefined
  if (isLoss) log.warn('Redis forgot something: whatever it may have held is sent once more')
  mirror.remember({ repairing: 'loss', ...(isLoss && { lastLossMs: clock.now() }) })
  access.forgetNewCalls()
  await shut(access)
  await hold(access, callsFromMs - clock.now())
  await doubtNamed(access)
  mirror.doubt({ ids: [], offered: true, nowMs: clock.now() })
  // Before the first start nothing was sent that could take effect late.
  await open(access, {
    how: 'repaired',
    positions: nothingOffered,
    echoForMs: isFirst ? 0 : lateForMs(access),
  })
}

/**
 * A new generation: every product is sent once. Calls begin when none of those before can take effect any more, unless they
 * went elsewhere: the operator has confirmed another endpoint, it is no return to one that was left a moment ago, and the
 * guard shows none for it.
 */
export async function startOver(access: RepairAccess, guard: GuardState | undefined): Promise<void> {
  const { mirror, clock, endpoint } = access
  // A Redis that falls back shows a generation that this one has replaced, and not a later mirror's.
  const { generation, former, isMoving, callsFromMs = 0 } = mirror.readIdentity()
  const wentElsewhere = isMoving && guard && guard.endpoint !== endpoint && callsFromMs <= clock.now()
  if (guard && guard.generation !== generation && !former.includes(guard.generation))
    mirror.beginStartOver({ former: [guard.generation] })
  access.forgetNewCalls()
  await shut(access)
  // Redis may be emptied while it holds the calls.
  const noteCalls = () => mirror.remember({ callsFromMs: clock.now() + lateForMs(access) })
  if (!wentElsewhere) {
    noteCalls()
    await hold(access, lateForMs(access))
  }
  while (mirror.startOver({ nowMs: clock.now(), rowsMax })) await afterOthers()
  // Where they went may be returned to.
  if (wentElsewhere) noteCalls()
  await open(access, { how: 'start-over', positions: nothingOffered, echoForMs: 0 })
}

/** An embedded server was ended in good order and began again. No call begins on a run that the mirror has not noted. */
export async function reopen(access: LoopAccess, positions: LaneState['positions']): Promise<void> {
  access.mirror.remember({ runId: access.runId })
  await open(access, { how: 'restarted', positions, echoForMs: 0 })
}

/** Whether a new beginning was decided and is not done; an open guard tells that only its last note is missing. */
export function isStartingOver({ mirror }: LoopAccess, guard: GuardState | undefined): boolean {
  const { startOver: cursor, generation } = mirror.readIdentity()
  if (cursor === undefined) return false
  const isDone = guard?.isOpen && guard.generation === generation
  if (isDone)
    mirror.remember({
      startOver: undefined,
      isMoving: undefined,
      runId: guard.runId,
      endpoint: guard.endpoint,
    })
  return !isDone
}

/** So long after a call began, or its claim was lost, it may take effect. */
function lateForMs({ delivery }: LoopAccess): number {
  return leaseMs + delivery.timeoutMs + delivery.horizonMs
}

/** By a clock that was set back the end may be far away: nothing takes effect that late. */
async function hold(access: LoopAccess, forMs: number): Promise<void> {
  const { connection, scripts } = access
  if (forMs > 0) await scripts.run(connection, 'hold', [Math.min(forMs, lateForMs(access)), 'start-over'])
}

async function shut({ connection, scripts, session }: LoopAccess): Promise<void> {
  checkSession(await scripts.run(connection, 'shut', [session]))
}

interface Opening {
  how: 'repaired' | 'restarted' | 'start-over'
  positions: LaneState['positions']
  /** Doubts that are offered within this time are echoed then. */
  echoForMs: number
}

async function open(access: LoopAccess, { how, positions, echoForMs }: Opening): Promise<void> {
  const { connection, scripts, session, mirror, endpoint, place, runId } = access
  const identity = mirror.readIdentity()
  const numbers = lanes.map((lane) => positions[lane])
  const fields = guardFields({ ...ownerOf({ identity, endpoint }), ...place }, runId)
  const args = [session, how, identity.beat, ...numbers, echoForMs, ...fields]
  checkSession(await scripts.run(connection, 'open', args))
  mirror.remember({ repairing: undefined, startOver: undefined, isMoving: undefined, runId, endpoint })
}

/** Whatever Redis names is doubtful, whether the mirror remembers having offered it or not. */
async function doubtNamed(access: LoopAccess): Promise<void> {
  const { connection, keys } = access
  await doubtAcknowledged(access)
  for (const key of ['pending', 'dead'] as const) {
    for await (const page of connection.hscanStream(keys[key], { count: rowsMax })) doubt(access, idsOf(page))
  }
  for (const key of ['urgent', 'new', 'deferred', 'echoes', 'requests'] as const) {
    for await (const page of connection.zscanStream(keys[key], { count: rowsMax })) doubt(access, idsOf(page))
  }
}

/** Unlike the others they are taken out here: what comes until the guard opens is drained afterwards. */
async function doubtAcknowledged(access: LoopAccess): Promise<void> {
  let cursor = '0'
  do {
    const { acknowledged, ...part } = await readDrained(access, cursor)
    cursor = part.cursor
    doubt(
      access,
      unpackFields(acknowledged).map(({ id }) => id),
    )
    const { packed, marks } = acknowledged
    await removeDrained(access, { acknowledged: { packed, marks: Buffer.alloc(marks.length, '-') } })
  } while (cursor !== '0')
}

function doubt({ mirror, clock }: LoopAccess, ids: readonly string[]): void {
  if (ids.length > 0) mirror.doubt({ ids: ids as ProductId[], offered: false, nowMs: clock.now() })
}

/** Of ids with their values. */
function idsOf(pairs: readonly string[]): string[] {
  return pairs.filter((_, index) => index % 2 === 0)
}
