import { type Command, run } from './commands.ts'
import { allRules, type Rules } from './rules.ts'
import { type Document, digestOf, type Endpoint, type Mirror, type Redis } from './state.ts'
import { freshWorld } from './world.ts'

/**
 * What takes commands and shows its whole state after each: the model here, the real mirror with the real scripts over a
 * driver of its own. Two systems that were given the same commands show the same.
 */
export interface System {
  run(command: Command): void | Promise<void>
  observe(): Observed | Promise<Observed>
}

/** State in words that both have: no tokens, run ids or generations; times are counted from now, beats from the mirror's. */
export interface Observed {
  redis: Record<string, unknown>
  installations: { mirror: Record<string, unknown>; endpoint: Record<string, unknown> }[]
}

export function openModel(rules: Rules = allRules): System {
  const world = freshWorld(rules)
  return {
    run: (command) => run(world, command),
    observe: () => ({
      redis: observeRedis(world.redis, world.now),
      installations: world.installations.map(({ mirror, endpoint }) => ({
        mirror: observeMirror(mirror, { now: world.now, beat: world.redis.beat }),
        endpoint: observeEndpoint(endpoint),
      })),
    }),
  }
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
    echoes: fields(echoes, (due) => due - now),
    requests: [...requests].sort(),
    claimed: [...claimed.keys()].sort(),
    acknowledged: fields(redis.acknowledged, (value) => value.split(' ')[0]),
    dead: fields(dead),
    refusals: fields(refusals),
    paused: [...paused].sort(),
  }
}

function observeMirror(
  mirror: Mirror,
  { now, beat }: { now: number; beat: number },
): Record<string, unknown> {
  const { rows, last, offered, startOver, paused, behind, applied } = mirror
  const products = fields(rows, ({ document, since, ...row }) => ({
    ...row,
    document: digestOf(document),
    sinceAgo: row.lane === null ? undefined : now - since,
  }))
  const identity = {
    beatAhead: beat - mirror.beat,
    isStartingOver: startOver !== null,
    paused,
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
