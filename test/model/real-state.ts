import type { Redis } from 'ioredis'
import { Database } from '../../src/lib/database.ts'
import { newest } from '../../src/mirror/documents.ts'
import { readCalls } from '../../src/mirror/facts.ts'
import { readIdentity } from '../../src/mirror/identity.ts'
import { LaneNumbers } from '../../src/mirror/lanes.ts'
import type { CatalogKeys } from '../../src/outbox/keys.ts'
import { second } from './state.ts'

interface Seen {
  /** Of documents, by their digests in hex. */
  texts: ReadonlyMap<string, string>
  nowMs: number
}

interface SeenRedis extends Seen {
  connection: Redis
  keys: CatalogKeys
}

const lanes = ['urgent', 'new', 'deferred'] as const

/** What Redis holds, in the model's words. */
export async function observeRedis(seen: SeenRedis, runId: string): Promise<Record<string, unknown>> {
  const { keys, nowMs } = seen
  const answers = await seen.connection
    .pipeline()
    .hgetallBuffer(keys.pending)
    .hgetallBuffer(keys.documents)
    .hgetallBuffer(keys.acknowledged)
    .hgetallBuffer(keys.dead)
    .zrange(keys.echoes, '0', '-1', 'WITHSCORES')
    .zrange(keys.requests, '0', '-1', 'WITHSCORES')
    .zrange(keys.urgent, '0', '-1')
    .zrange(keys.new, '0', '-1')
    .zrange(keys.deferred, '0', '-1')
    .hkeys(keys.claimed)
    .hkeys(keys.pause)
    .hmget(keys.guard, 'open', 'runId')
    .hmget(keys.positions, ...lanes)
    .exec()
  const values = (answers ?? []).map(([, value]) => value)
  const [pending, documents, acknowledged, dead] = values
    .slice(0, 4)
    .map((hash) => Object.entries(hash as Record<string, Buffer>)) as [Hash, Hash, Hash, Hash]
  const [echoes, requests] = values.slice(4, 6).map((pairs) => dueIn(pairs as string[], nowMs)) as [Due, Due]
  const [urgent, fresh, deferred, claimed, paused, guard, positions] = values.slice(6) as string[][]
  const held = pending.map(([id, value]) => {
    return { id, digest: textOf(seen, value), purpose: value.toString('latin1')[16] ?? '' }
  })
  const queued = [urgent, fresh, deferred].flatMap((ids = [], at) =>
    ids.map((id) => [id, lanes[at]] as const),
  )
  return {
    positions: fields(lanes.map((lane, at) => [lane, Number(positions?.[at] ?? 0)])),
    isOpen: guard?.[0] === '1' && guard[1] === runId,
    documents: fields(documents.map(([id, value]) => [id, value.toString()])),
    pending: fields(held.filter(({ purpose }) => purpose !== 'e').map(({ id, digest }) => [id, digest])),
    lanes: fields(queued),
    counted: fields(
      held.flatMap(({ id, purpose }) => {
        const lane = lanes.find((each) => each.startsWith(purpose))
        return lane ? [[id, lane]] : []
      }),
    ),
    echoes: fields([...echoes, ...requests]),
    requests: requests.map(([id]) => id).sort(),
    claimed: claimed?.sort(),
    acknowledged: fields(acknowledged.map(([id, value]) => [id, textOf(seen, value)])),
    dead: fields(dead.map(([id, value]) => [id, textOf(seen, value)])),
    refusals: fields(held.filter(({ purpose }) => purpose === 'r').map(({ id, digest }) => [id, digest])),
    paused: paused?.sort(),
  }
}

type Hash = [id: string, value: Buffer][]
type Due = [id: string, inSeconds: number][]

function dueIn(pairs: readonly string[], nowMs: number): Due {
  return pairs.flatMap((id, at): Due => {
    const inSeconds = Math.ceil((Number(pairs[at + 1]) - nowMs) / second)
    return at % 2 === 0 ? [[id, Math.max(0, inSeconds)]] : []
  })
}

/** Read by a connection of its own: only what is durable is there. */
export function observeMirror(seen: Seen & { file: string }): Record<string, unknown> {
  const { file, nowMs } = seen
  using database = Database.open({ file, access: 'read' })
  const rows = database.all<
    Record<string, unknown>
  >(`SELECT p.id, s.lane, s.number, s.since, s.known, s.digest, s.acknowledged, o.digest AS dead, ${newest.document} AS document
        FROM products p JOIN standing s ON s.product = p.key AND s.hasRow LEFT JOIN dead o ON o.product = p.key
        ${newest.joins}`)
  const text = (value: unknown) => (value === null ? null : textOf(seen, Buffer.from(value as Uint8Array)))
  const products = rows.map(({ id, lane, number, since, known, ...row }): [string, unknown] => [
    String(id),
    {
      lane: lane === null ? null : ['urgent', 'new', 'deferred'][Number(lane)],
      number,
      known: known === 1,
      digest: text(row.digest),
      acknowledged: text(row.acknowledged),
      dead: text(row.dead),
      document: Buffer.from(row.document as Uint8Array).toString(),
      sinceAgo: since === null ? undefined : Math.floor((nowMs - Number(since)) / second),
    },
  ])
  const { last, offered } = new LaneNumbers(database)
  const { startOver, behindSinceMs } = readIdentity(database)
  return {
    ...{ products: fields(products), last, offered },
    ...{ isStartingOver: startOver !== undefined, behind: behindSinceMs !== undefined },
    isPaused: readCalls(database)?.decision === 'pause',
  }
}

function textOf({ texts }: Seen, value: Buffer): string {
  if (value.length < 16) return value.toString()
  return texts.get(value.subarray(0, 16).toString('hex')) ?? 'unknown'
}

/** In the order of ids. */
export function fields(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : 1)))
}
