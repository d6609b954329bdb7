import type { Lane } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { Database } from '../lib/database.ts'
import { checkedDocument, damaged } from './digest.ts'
import { type Documents, newest } from './documents.ts'
import { FreshPlaces } from './fresh-places.ts'
import type { History } from './history.ts'
import { LaneNumbers, type LaneRank, laneRank } from './lanes.ts'
import type { Place } from './loop-model.ts'
import { type NextPlace, placeAfterEdit, type SendingRow, sameBytes } from './place-after-edit.ts'
import { RecentDocuments } from './recent-documents.ts'
import { WrittenList } from './written-documents.ts'

/** `acknowledged` of a product of which the endpoint may hold anything. */
export const doubtful = Buffer.alloc(0)

type PlaceColumns = [lane: LaneRank | null, number: number | null, since: number | null, known: 1 | null]

const noPlace: PlaceColumns = [null, null, null, null]

const neverSent: SendingRow = {
  lane: null,
  number: null,
  since: null,
  known: null,
  digest: null,
  acknowledged: null,
}

interface NewPlace {
  number: number
  since: number
}

export type PlacedRow = Pick<SendingRow, 'lane' | 'number' | 'since' | 'known'> & { key: number }

interface EditedProduct {
  key: number
  /** Undefined where the product is new, or never had a document. */
  row: SendingRow | undefined
  lane: Lane
  digest: Uint8Array | undefined
  /** Of the document. */
  bytes: number | undefined
}

/** Products that have none get a row that says what its absence does. */
const withRows = `INSERT OR IGNORE INTO sending (product, digest, bytes, acknowledged)
  SELECT p.key, ${newest.digest}, coalesce(length(${newest.document}), 0), ${newest.digest}
  FROM products p ${newest.joins}`

const row = `INTO sending (lane, number, since, known, digest, bytes, acknowledged, product)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
const insertRow = `INSERT ${row}`
const replaceRow = `INSERT OR REPLACE ${row}`

type PlaceRow = readonly [
  ...[key: number, number: number, since: number],
  ...[digest: Uint8Array | null, acknowledged: Uint8Array | null],
  ...[productId: ProductId | null, bytes: number, known: 1 | null],
]

/**
 * Which products are unsent, and in which order (`sending`). Its methods run inside a transaction of the store.
 *
 * A product has no place → waits (deferred, without a number) → is numbered → is read by the pump → has no place. A number
 * that was read is never edited: the product takes a new one.
 */
export class Places {
  readonly numbers: LaneNumbers
  readonly recent = new RecentDocuments()
  readonly fresh = new FreshPlaces()
  /** In place of `recent`, where calls read documents in this process. */
  readonly written = new WrittenList()
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.numbers = new LaneNumbers(database)
  }

  /** What was not committed is forgotten. */
  reload(): void {
    this.numbers.reload()
    this.written.clear()
    this.fresh.clear()
  }

  /** Returns the place where Redis can know nothing of the product. */
  edit({ key, row, lane, digest, bytes = 0 }: EditedProduct, nowMs: number): NewPlace | undefined {
    const before = row ?? neverSent
    const isRead = (rank: LaneRank, number: number) => this.numbers.isOffered(rank, number)
    const place = this.#placeOf(before, placeAfterEdit({ row: before, lane, digest, nowMs, isRead }))
    const sql = row ? replaceRow : insertRow
    this.#database.run(sql, ...place, digest ?? null, bytes, before.acknowledged, key)
    if (place[0] === null) this.tidy(key)
    if (before.lane === laneRank.new && before.number !== null) this.fresh.delete(before.number)
    const [rank, number, since, known] = place
    if (rank !== laneRank.new || number === null || since === null || !digest) return undefined
    return isUnknown({ ...before, digest, known }) ? { number, since } : undefined
  }

  /** The next number of that lane. The time since when the product is unsent stays. */
  give(row: PlacedRow, rank: LaneRank, nowMs: number): void {
    this.#place(row.key, this.#numbered(row, rank, row.since ?? nowMs))
  }

  /** The same, unless the product has a number already. */
  ensure(row: PlacedRow, rank: LaneRank, nowMs: number): void {
    if (row.number === null) this.give(row, rank, nowMs)
  }

  lose(key: number): void {
    this.#place(key, noPlace)
    this.tidy(key)
  }

  /** Whatever is known of an acknowledgement is believed no longer. */
  doubt(key: number): void {
    this.acknowledge(key, doubtful)
  }

  /** To be followed by a place, or by `tidy`. */
  acknowledge(key: number, digest: Uint8Array): void {
    this.fresh.clear()
    this.#database.run(`${withRows} WHERE p.key = ?`, key)
    this.#database.run('UPDATE sending SET acknowledged = ? WHERE product = ?', digest, key)
  }

  /** What is acknowledged and has no place needs no row. */
  tidy(key: number): void {
    this.#database.run(
      'DELETE FROM sending WHERE product = ? AND lane IS NULL AND acknowledged = digest',
      key,
    )
  }

  /** Whether `numberDue` would change anything. */
  hasDue({ nowMs, deferredAfterMs }: DueOptions): boolean {
    const waiting = 'SELECT 1 FROM sending WHERE lane = ?1 AND number IS NULL AND since'
    const sql = `SELECT EXISTS (${waiting} <= ?2) OR EXISTS (${waiting} > ?3) AS isDue`
    const values = [laneRank.deferred, nowMs - deferredAfterMs, nowMs]
    return this.#database.get<{ isDue: number }>(sql, ...values)?.isDue === 1
  }

  numberDue({ nowMs, deferredAfterMs, rowsMax }: DueOptions): void {
    const { deferred } = laneRank
    // The clock was set back: nothing waits for the time by which it was ahead.
    const ahead = 'UPDATE sending SET since = ? WHERE lane = ? AND number IS NULL AND since > ?'
    this.#database.run(ahead, nowMs, deferred, nowMs)
    const sql = `SELECT product AS key, lane, number, since, known FROM sending
      WHERE lane = ? AND number IS NULL AND since <= ? ORDER BY since LIMIT ?`
    const due = this.#database.all<PlacedRow>(sql, deferred, nowMs - deferredAfterMs, rowsMax)
    for (const row of due) this.give(row, deferred, nowMs)
  }

  /** What was read is noted with it: from now on Redis may know of it. */
  read({ lane, after, bytesMax, rowsMax, documents, untilNew = false }: ReadOptions): Place[] {
    const sql = `SELECT s.product, s.number, s.since, s.digest, s.acknowledged, p.id, s.bytes, s.known
      FROM sending s INDEXED BY places LEFT JOIN products p ON p.key = s.product
      WHERE s.lane = ? AND s.number > ? ORDER BY s.number LIMIT ?`
    const places: Place[] = []
    let bytes = 0
    this.recent.isRead = documents
    for (const row of this.#database.rows<PlaceRow>(sql, laneRank[lane], after, rowsMax)) {
      const [, number, , digest, acknowledged, , size, known] = row
      bytes += size
      if (bytes > bytesMax && places.length > 0) break
      const isRead = !untilNew || this.numbers.isOffered(laneRank[lane], number)
      if (!isRead && isUnknown({ digest, acknowledged, known })) break
      if (lane === 'new') this.fresh.delete(number)
      places.push(this.#placeOffered(row, lane, documents))
    }
    this.numbers.noteOffered(lane, places.at(-1)?.number ?? 0)
    if (this.numbers.isAllOffered) this.recent.clear()
    return places
  }

  /** Keys of the products whose rows follow that key, ascending. */
  readRows(after: number, rowsMax: number): Map<ProductId, number> {
    const sql = `SELECT p.id, p.key FROM sending s CROSS JOIN products p ON p.key = s.product
      WHERE s.product > ? ORDER BY s.product LIMIT ?`
    return new Map(this.#database.rows<[ProductId, number]>(sql, after, rowsMax))
  }

  /** All that Redis may know of. */
  doubtOffered(): void {
    this.fresh.clear()
    const { urgent, new: fresh, deferred } = this.numbers.offered
    const known = `SELECT product FROM sending WHERE known = 1
      OR (lane = 0 AND number <= ?) OR (lane = 1 AND number <= ?) OR (lane = 2 AND number <= ?)`
    this.#database.run(`DELETE FROM dead WHERE product IN (${known})`, urgent, fresh, deferred)
    const doubt = `UPDATE sending SET acknowledged = ? WHERE product IN (${known})`
    this.#database.run(doubt, doubtful, urgent, fresh, deferred)
  }

  /** Every product behind that key is doubtful and has a number. Returns the key of the last; undefined: there was none. */
  placeAll({ after, nowMs, rowsMax }: Record<'after' | 'nowMs' | 'rowsMax', number>): number | undefined {
    const page = `SELECT max(product) AS last FROM (
      SELECT product FROM digests WHERE product > ? ORDER BY product LIMIT ?)`
    this.fresh.clear()
    const last = this.#database.get<{ last: number | null }>(page, after, rowsMax)?.last
    if (last == null) return undefined
    const base = this.numbers.last.new - after
    this.numbers.skip(laneRank.new, last - after)
    this.#database.run(
      `${withRows} WHERE p.key > ? AND p.key <= ? AND ${newest.digest} IS NOT NULL`,
      after,
      last,
    )
    const place = `UPDATE sending SET acknowledged = ?,
        lane = iif(number IS NULL, ?, lane), number = coalesce(number, ? + product), since = coalesce(since, ?)
      WHERE product > ? AND product <= ? AND digest IS NOT NULL`
    this.#database.run(place, doubtful, laneRank.new, base, nowMs, after, last)
    this.#database.run('DELETE FROM dead WHERE product > ? AND product <= ?', after, last)
    return last
  }

  #placeOffered(
    [key, number, since, digest, acknowledged, productId, bytes]: PlaceRow,
    lane: Lane,
    withDocument: boolean,
  ): Place {
    // Only damage can take a product from its place, or make its id something else than text.
    if (typeof productId !== 'string') throw damaged(this.#database.file)
    const place = { productId, lane, number, since, bytes }
    if (digest === null) return { ...place, kind: 'withdrawn', document: undefined, digest: undefined }
    const kind = acknowledged?.length === 0 ? 'doubt' : sameBytes(acknowledged, digest) ? 'undone' : 'change'
    const document = withDocument ? this.#readDocument(key, digest) : undefined
    return { ...place, kind, document, digest: Buffer.from(digest) }
  }

  #readDocument(key: number, digest: Uint8Array): Buffer | undefined {
    const recent = this.recent.find(key, digest)
    if (recent) return recent
    const sql = `SELECT ${newest.document} AS document FROM (SELECT ? AS key) p ${newest.joins}`
    const row = this.#database.get<{ document: Uint8Array | null }>(sql, key)
    return checkedDocument(row?.document ?? null, digest, this.#database.file)
  }

  #placeOf(row: SendingRow, next: NextPlace): PlaceColumns {
    switch (next.kind) {
      case 'kept':
        return [row.lane, row.number, row.since, row.known]
      case 'none':
        return noPlace
      case 'waiting':
        return [laneRank.deferred, null, next.since, null]
      case 'numbered':
        return this.#numbered(row, next.rank, next.since)
    }
  }

  #numbered({ lane, number, known }: Omit<PlacedRow, 'key'>, rank: LaneRank, since: number): PlaceColumns {
    const isOffered = lane !== null && number !== null && this.numbers.isOffered(lane, number)
    return [rank, this.numbers.next(rank), since, isOffered ? 1 : known]
  }

  #place(key: number, place: PlaceColumns): void {
    this.fresh.clear()
    const sql = 'UPDATE sending SET lane = ?, number = ?, since = ?, known = ? WHERE product = ?'
    if (this.#database.run(sql, ...place, key).changes === 1) return
    this.#database.run(`${withRows} WHERE p.key = ?`, key)
    this.#database.run(sql, ...place, key)
  }
}

/** What a function needs that changes products and places in one transaction. */
export interface Access {
  database: Database
  places: Places
  documents: Documents
  history: History
}

export interface DueOptions {
  nowMs: number
  deferredAfterMs: number
  rowsMax: number
}

export interface ReadOptions {
  lane: Lane
  after: number
  bytesMax: number
  rowsMax: number
  /** Whether they are read, too. */
  documents: boolean
  /** Those behind the first of which Redis can know nothing are left to calls that do without it. */
  untilNew?: boolean
}

/** Redis can know nothing of such a product, unless its place was read. */
export function isUnknown({
  digest,
  acknowledged,
  known,
}: Pick<SendingRow, 'digest' | 'acknowledged' | 'known'>): boolean {
  return digest !== null && acknowledged === null && known === null
}
