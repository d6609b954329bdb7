import type { Lane } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import { checkedDocument, damaged } from './digest.ts'
import { newest } from './documents.ts'
import type { FreshPlace } from './fresh-places.ts'
import { laneRank } from './lanes.ts'
import type { TakenProducts } from './loop-model.ts'
import type { DocumentDigest } from './model.ts'
import { type Access, isUnknown } from './places.ts'

/** As many as one claim may have. */
const productsMax = 12_000
const usualBytes = 1_000

type NewRow = readonly [
  ...[key: number, number: number, since: number, digest: Uint8Array | null],
  ...[acknowledged: Uint8Array | null, known: 1 | null, productId: ProductId | null],
  document: Uint8Array | null,
]

export interface TakenProduct {
  key: number
  productId: ProductId
  digest: DocumentDigest
  /** Of the document. */
  bytes: number
  lane: Lane
}

/** The lane `new` as calls read it that do without Redis. */
export class NewPlaces {
  readonly #access: Access
  #meanBytes = usualBytes

  constructor(access: Access) {
    this.#access = access
  }

  /** What is next in the lane `new`: for a call, for Redis, or nothing at all. */
  next(after: number): { for: 'call'; since: number } | { for: 'redis' | 'nobody' } {
    if (after >= this.#last) return { for: 'nobody' }
    const { fresh, numbers } = this.#access.places
    const place = fresh.at(after + 1)
    if (place && place.number > numbers.offered.new) return { for: 'call', since: place.since }
    const [row] = this.#read(after, 1)
    if (!row) return { for: 'nobody' }
    return this.#isNew(row) ? { for: 'call', since: row[2] } : { for: 'redis' }
  }

  /** Products that follow each other, until one does not fit. `rowsFull`: about how many fill a call. */
  readCall(after: number, bytesMax: number) {
    const products: TakenProduct[] = []
    const documents: Buffer[] = []
    const waiting: TakenProducts['waiting'] = []
    // Brackets, and a comma behind each but the last.
    let [bytes, first, last, isFull] = [1, 0, after, false]
    for (const place of this.#placesAfter(after, bytesMax)) {
      isFull = products.length === productsMax || bytes + place.bytes + 1 > bytesMax
      if (isFull && products.length > 0) break
      const { key, productId, digest, number, since } = place
      products.push({ key, productId, digest, bytes: place.bytes, lane: 'new' })
      documents.push(place.document)
      const before = waiting.at(-1)
      if (before?.sinceMs === since) before.products += 1
      else waiting.push({ sinceMs: since, products: 1 })
      bytes += place.bytes + 1
      first ||= number
      last = number
      if (isFull) break
    }
    if (products.length > 0) this.#meanBytes = bytes / products.length
    const rowsFull = Math.max(1, Math.ceil(bytesMax / this.#meanBytes))
    return { products, documents, waiting, first, last, isFull, rowsFull }
  }

  /** Up to one of which Redis may know something. */
  *#placesAfter(after: number, bytesMax: number): Generator<FreshPlace> {
    const { places, database } = this.#access
    const offered = places.numbers.offered.new
    for (let last = after; ; ) {
      for (let fresh = places.fresh.at(last + 1); fresh; fresh = places.fresh.at(last + 1)) {
        if (fresh.number <= offered) return
        yield fresh
        last = fresh.number
      }
      if (last >= this.#last) return
      const rows = this.#read(last, rowsFor(bytesMax, this.#meanBytes))
      for (const row of rows) {
        const [key, number, since, digest, , , productId, stored] = row
        if (!this.#isNew(row) || digest === null) return
        const document = checkedDocument(stored, digest, database.file)
        if (typeof productId !== 'string' || !document) throw damaged(database.file)
        yield { key, number, since, productId, digest: Buffer.from(digest), bytes: document.length, document }
        last = number
      }
      if (rows.length === 0) return
    }
  }

  #isNew([, number, , digest, acknowledged, known]: NewRow): boolean {
    const { numbers } = this.#access.places
    return number > numbers.offered.new && isUnknown({ digest, acknowledged, known })
  }

  #read(after: number, rowsMax: number): NewRow[] {
    const sql = `SELECT s.product, s.number, s.since, s.digest, s.acknowledged, s.known, p.id, ${newest.document}
      FROM sending s INDEXED BY places LEFT JOIN products p ON p.key = s.product ${newest.joins}
      WHERE s.lane = ? AND s.number > ? ORDER BY s.number LIMIT ?`
    return this.#access.database.rows<NewRow>(sql, laneRank.new, after, rowsMax)
  }

  get #last(): number {
    return this.#access.places.numbers.last.new
  }
}

function rowsFor(bytesMax: number, meanBytes: number): number {
  return Math.min(productsMax, Math.ceil((1.1 * bytesMax) / meanBytes) + 16)
}
