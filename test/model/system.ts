import { isDeepStrictEqual } from 'node:util'
import { type Command, run } from './commands.ts'
import { allRules, type Rules } from './rules.ts'
import {
  type Document,
  digestOf,
  type Endpoint,
  installationOf,
  type Mirror,
  type Redis,
  second,
  type World,
} from './state.ts'
import { freshWorld, wouldNotice } from './world.ts'

/**
 * What takes commands and shows its whole state after each: the model here, the real mirror with the real scripts over a
 * driver of its own. Two systems that were given the same commands show the same.
 */
export interface System {
  run(command: Command): void | Promise<void>
  observe(): Observed | Promise<Observed>
  /** Whether it would notice that this backup, put back in place, is older than Redis. */
  wouldNotice(which: number, at: number): boolean | Promise<boolean>
}

/** State in words that both have: no tokens, run ids or generations; times are counted from now, beats from the mirror's. */
export interface Observed {
  redis: Record<string, unknown>
  installations: {
    mirror: Record<string, unknown>
    endpoint: Record<string, unknown>
    isRefused: boolean
  }[]
}

export interface ModelSystem extends System {
  /** Whether Redis, so many commands ago, was in the midst of what takes the real loop fewer turns. */
  isMidway(by: number): boolean
  /** The next turn begins with neither comparing nor repairing, which the real loop does in one turn with the rest. */
  isRunning(at: number): boolean
}

export function openModel(rules: Rules = allRules): ModelSystem {
  const world = freshWorld(rules)
  const unfinished = new WeakSet<Redis>()
  /** Installations whose real loop is turns ahead: it compares and repairs in one, then both offer as much in each. */
  const late = new Set<number>()
  return {
    run: (command) => {
      const isUnfinished = late.size > 0
      const isOwnTurn = command.kind === 'turn' && late.has(command.at) && hasCompared(world, command.at)
      const seen = isOwnTurn ? observeRedis(world.redis, 0) : undefined
      run(world, command)
      const before = world.snapshots.at(-1)
      if (isUnfinished && before) unfinished.add(before)
      if (command.kind !== 'turn') return
      if (!hasCompared(world, command.at)) late.add(command.at)
      else if (seen && isDeepStrictEqual(seen, observeRedis(world.redis, 0))) late.delete(command.at)
    },
    isMidway: (by) => {
      if (by < 2) return world.redis.guard?.open === false || late.size > 0
      const earlier = world.snapshots.at(1 - by)
      return earlier !== undefined && (earlier.guard?.open === false || unfinished.has(earlier))
    },
    isRunning: (at) => {
      const { loop, mirror } = installationOf(world, at)
      const { guard, runId } = world.redis
      const isOurs = guard?.open === true && guard.generation === mirror.generation
      return loop.state === 'run' && loop.runId === runId && isOurs
    },
    wouldNotice: (which, at) => wouldNotice(world, installationOf(world, at), which),
    observe: () => ({
      redis: observeRedis(world.redis, world.now),
      installations: world.installations.map(({ mirror, endpoint, loop }) => ({
        mirror: observeMirror(mirror, { now: world.now, beat: world.redis.beat }),
        endpoint: observeEndpoint(endpoint),
        isRefused: loop.state === 'refused',
      })),
    }),
  }
}

function hasCompared(world: World, owner: number): boolean {
  const { state } = installationOf(world, owner).loop
  return state === 'run' || state === 'refused'
}

function observeRedis(redis: Redis, now: number): Record<string, unknown> {
  const { positions, guard, pending, echoes, requests, claimed, dead, refusals, paused } = redis
  return {
    positions: { ...positions },
    isOpen: guard?.open === true && guard.runId === redis.runId,
    documents: fields(redis.documents, digestOf),
    pending: fields(pending),
    lanes: fields(redis.queued, ({ lane }) => lane),
    counted: fields(redis.counted),
    echoes: fields(echoes, (due) => Math.max(0, Math.ceil((due - now) / second))),
    requests: [...requests].sort(),
    claimed: [...claimed.keys()].sort(),
    acknowledged: fields(redis.acknowledged, (value) => value.split(' ')[0]),
    dead: fields(dead, (value) => value.split(' ')[0]),
    refusals: fields(refusals),
    paused: [...paused.keys()].sort(),
  }
}

function observeMirror(
  mirror: Mirror,
  { now, beat }: { now: number; beat: number },
): Record<string, unknown> {
  const { rows, last, offered, startOver, calls, behind, applied } = mirror
  const products = fields(rows, ({ document, since, ...row }) => ({
    ...row,
    document: digestOf(document),
    sinceAgo: row.lane === null ? undefined : Math.floor((now - since) / second),
  }))
  const identity = {
    beatAhead: beat - mirror.beat,
    isStartingOver: startOver !== null,
    isPaused: calls?.paused === true,
    behind,
    applied,
  }
  return { products, last: { ...last }, offered: { ...offered }, ...identity }
}

function observeEndpoint({ products }: Endpoint): Record<string, unknown> {
  return fields<Document>(products, digestOf)
}

/** In the order of ids. */
function fields<Value>(
  map: ReadonlyMap<string, Value>,
  show: (value: Value) => unknown = (value) => value,
): Record<string, unknown> {
  const ids = [...map.keys()].sort()
  return Object.fromEntries(ids.map((id) => [id, show(map.get(id) as Value)]))
}
