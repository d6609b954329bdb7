import { DatabaseSync } from 'node:sqlite'
import type { Harness } from '../outbox/harness.ts'

interface Seen {
  box: Harness
  /** Of documents, by their digests in hex. */
  texts: ReadonlyMap<string, string>
  /** A second of the model. */
  unitMs: number
  nowMs: number
}

/** What Redis holds, in the model's words. */
export async function observeRedis(seen: Seen): Promise<Record<string, unknown>> {
  const { connection, keys } = seen.box
  const { unitMs } = seen
  const buffers = async (key: string) => Object.entries(await connection.hgetallBuffer(key))
  const dueIn = async (key: string) => {
    const pairs = await connection.zrange(key, '0', '-1', 'WITHSCORES')
    return pairs.flatMap((id, at): [string, number][] => {
      const ms = Number(pairs[at + 1]) - Date.now()
      return at % 2 === 0 ? [[id, Math.ceil(ms / unitMs) || 0]] : []
    })
  }
  const held = (await buffers(keys.pending)).map(([id, value]) => {
    return { id, digest: textOf(seen, value), purpose: value.toString('latin1')[16] ?? '' }
  })
  const lanes = ['urgent', 'new', 'deferred'] as const
  const queued = await Promise.all(
    lanes.map(async (lane) => (await dueIn(keys[lane])).map(([id]): [string, string] => [id, lane])),
  )
  const requests = await dueIn(keys.requests)
  return {
    isOpen: (await connection.hget(keys.guard, 'open')) === '1',
    documents: fields((await buffers(keys.documents)).map(([id, value]) => [id, value.toString()])),
    pending: fields(held.filter(({ purpose }) => purpose !== 'e').map(({ id, digest }) => [id, digest])),
    lanes: fields(queued.flat()),
    counted: fields(
      held.flatMap(({ id, purpose }) => {
        const lane = lanes.find((each) => each.startsWith(purpose))
        return lane ? [[id, lane]] : []
      }),
    ),
    echoes: fields([...(await dueIn(keys.echoes)), ...requests]),
    requests: requests.map(([id]) => id).sort(),
    claimed: (await connection.hkeys(keys.claimed)).sort(),
    acknowledged: fields((await buffers(keys.acknowledged)).map(([id, value]) => [id, textOf(seen, value)])),
    dead: fields((await buffers(keys.dead)).map(([id, value]) => [id, textOf(seen, value)])),
  }
}

/** Read by a connection of its own: only what is durable is there. */
export function observeMirror(seen: Seen): Record<string, unknown> {
  const { box, nowMs, unitMs } = seen
  using database = new DatabaseSync(box.file, { readOnly: true })
  const rows = database
    .prepare(`SELECT p.id, s.lane, s.number, s.since, s.known, s.digest, s.acknowledged, d.digest AS dead, o.document
        FROM products p JOIN sending s ON s.product = p.key LEFT JOIN dead d ON d.product = p.key
        LEFT JOIN documents o ON o.product = p.key`)
    .all()
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
      sinceAgo: since === null ? undefined : Math.floor((nowMs - Number(since)) / unitMs),
    },
  ])
  const { last, offered } = box.mirror.readIdentity()
  return { products: fields(products), last, offered }
}

function textOf({ texts }: Seen, value: Buffer): string {
  if (value.length < 16) return value.toString()
  return texts.get(value.subarray(0, 16).toString('hex')) ?? 'unknown'
}

/** In the order of ids. */
export function fields(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : 1)))
}
