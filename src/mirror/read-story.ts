import type { Lane } from '../catalog/model.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import type { Database } from '../lib/database.ts'
import { bufferOf, checkedDocument } from './digest.ts'
import { newest } from './documents.ts'
import { readHistory } from './history.ts'
import { type LaneRank, lanes } from './lanes.ts'
import type { DeadLetter, StoredProduct } from './model.ts'
import { sameBytes } from './place-after-edit.ts'

/** Where one product stands, and how it came there. Times are ms since the epoch. */
export interface StoredStory extends StoredProduct {
  meta: string
  /** Required fields that it lacks, comma-separated; undefined: none. */
  incomplete: string | undefined
  /** Undefined: the product has no place. `number`: undefined while a deferred change waits. */
  place: { lane: Lane; number: number | undefined; sinceMs: number; isOffered: boolean } | undefined
  /**
   * What the endpoint holds of it, as far as is known: nothing was ever sent, the newest document, an older one, or one of
   * both (a call may have taken effect).
   */
  endpoint: 'nothing' | 'newest' | 'older' | 'doubtful'
  dead: Omit<DeadLetter, 'productId'> | undefined
  /** Of the document, hexadecimal. */
  digest: string | undefined
  /** No feed names it since then. */
  absentMs: number | undefined
  /** Feeds whose file leaves it out, which waits for approval. */
  heldBy: FeedName[]
  /** What changed, newest first: `at entry` each. */
  history: string[]
}

interface StoryRow {
  key: number
  meta: string
  missing: string | null
  document: Uint8Array | null
  partial: Uint8Array | null
  origins: string | null
  lane: LaneRank | null
  number: number | null
  since: number | null
  digest: Uint8Array | null
  acknowledged: Uint8Array | null
  letter: string | null
  absent: number | null
  entries: Uint8Array | null
}

/** Undefined: no feed has ever named it. `offered`: the last number of each lane that Redis may know. */
export function readStory(
  database: Database,
  id: ProductId,
  offered: Readonly<Record<Lane, number>>,
): StoredStory | undefined {
  const sql = `SELECT p.key, p.meta, p.missing, ${newest.document} AS document, ${newest.partial} AS partial,
      ${newest.origins} AS origins, s.lane, s.number, s.since, s.digest, s.acknowledged, x.letter, a.since AS absent,
      h.entries
    FROM products p ${newest.joins} JOIN standing s ON s.product = p.key
      LEFT JOIN dead x ON x.product = p.key LEFT JOIN absent a ON a.product = p.key
      LEFT JOIN history h ON h.product = p.key
    WHERE p.id = ?`
  const row = database.get<StoryRow>(sql, id.toWellFormed())
  if (!row) return undefined
  const held = 'SELECT feed FROM held_ids WHERE product = ? ORDER BY feed'
  return {
    meta: row.meta,
    incomplete: row.missing ?? undefined,
    document: checkedDocument(row.document, row.digest, database.file),
    partial: row.partial ? bufferOf(row.partial, database.file) : undefined,
    origins: row.origins ?? undefined,
    place: placeOf(row, offered),
    endpoint: endpointOf(row),
    dead: row.letter === null ? undefined : JSON.parse(row.letter),
    digest: row.digest ? Buffer.from(row.digest).toString('hex') : undefined,
    absentMs: row.absent ?? undefined,
    heldBy: database.all<{ feed: FeedName }>(held, row.key).map(({ feed }) => feed),
    history: readHistory(database, row.key, row.entries),
  }
}

function placeOf(
  { lane, number, since }: StoryRow,
  offered: Readonly<Record<Lane, number>>,
): StoredStory['place'] {
  if (lane === null) return undefined
  const name = lanes[lane]
  const isOffered = number !== null && number <= offered[name]
  return { lane: name, number: number ?? undefined, sinceMs: since ?? 0, isOffered }
}

function endpointOf({ digest, acknowledged }: StoryRow): StoredStory['endpoint'] {
  if (acknowledged === null) return 'nothing'
  if (acknowledged.length === 0) return 'doubtful'
  return sameBytes(acknowledged, digest) ? 'newest' : 'older'
}

/**
 * Ids that resemble one that is not known: its neighbours in order that begin as it does; where there are none, those that
 * contain it in any letters, which reads all ids, some 50 ms a million.
 */
export function readNearIds(database: Database, id: string, idsMax: number): string[] {
  const wanted = id.trim()
  if (wanted === '') return []
  const before = 'SELECT id FROM products WHERE id < ? ORDER BY id DESC LIMIT ?'
  const after = 'SELECT id FROM products WHERE id > ? ORDER BY id LIMIT ?'
  const start = wanted.slice(0, Math.ceil(wanted.length * 0.6))
  const neighbours = [before, after]
    .flatMap((sql) => database.all<{ id: string }>(sql, wanted, idsMax))
    .filter((row) => row.id.startsWith(start))
  const pattern = `%${wanted.replace(/[\\%_]/g, '\\$&')}%`
  const like = "SELECT id FROM products WHERE id LIKE ? ESCAPE '\\' ORDER BY length(id), id LIMIT ?"
  const found = neighbours.length > 0 ? neighbours : database.all<{ id: string }>(like, pattern, idsMax)
  return found.map((row) => row.id)
}
