import type { ProductId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { digestDocument } from '../mirror/digest.ts'
import type { NewProducts } from '../mirror/new-products.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import { afterOthers } from './loop-access.ts'
import type { ClaimedProduct, ProductPlace } from './model.ts'

/** What a claim binds; the digests are those of the documents that were offered or taken. */
export interface ClaimedDocuments {
  ids: readonly ProductId[]
  digests: readonly Buffer[]
}

export type FoundDocuments = Map<ProductId, Omit<ClaimedProduct, 'productId'>>

/** Documents where who delivers has the mirror: the newest ones there, or what was offered a moment ago in memory. */
export interface DocumentReader {
  readDocuments(ids: readonly ProductId[]): FoundDocuments
  /** What was offered, where it is at hand. Undefined: it is to be read. */
  takeWritten?(id: ProductId, digest: Buffer): Buffer | undefined
  /** Those that calls take without Redis. Undefined: Redis tells of all. */
  newProducts?: NewProducts
  /** Where products wait. Undefined: nobody asks. */
  waitingSince?(ids: readonly ProductId[]): ReadonlyMap<ProductId, Pick<ProductPlace, 'lane' | 'sinceMs'>>
}

/** The places of so many products of a call are read, and as many again that stand for the others. */
const placesRead = 64

/** Adds for how long products have waited: of the first ones, urgent ones among them, and of every so many of the others. */
export function addPlaces(products: readonly ClaimedProduct[], reader: DocumentReader): void {
  const step = Math.max(1, Math.ceil((products.length - placesRead) / placesRead))
  const read = products.flatMap((product, at) => {
    const isFirst = at < placesRead
    if (!isFirst && (at - placesRead) % step > 0) return []
    return [{ product, products: isFirst ? 1 : Math.min(step, products.length - at) }]
  })
  const found = reader.waitingSince?.(read.map(({ product }) => product.productId))
  for (const { product, products: count } of read) {
    const place = found?.get(product.productId)
    if (place) product.place = { ...place, products: count }
  }
}

/** To read and check them holds the thread up, which has calls, files and the console to serve: so long at most. */
const blockIds = 64
const holdsUpMs = 3

/**
 * Reads the documents of one call after the other, and lets others have their turn after every few blocks of them. Few
 * documents, which may be urgent, are read at once.
 */
export class BlockReader {
  readonly #clock: Clock
  #last: Promise<unknown> = Promise.resolve()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async read(reader: DocumentReader, { ids, digests }: ClaimedDocuments): Promise<FoundDocuments> {
    const found: FoundDocuments = new Map()
    const others = ids.filter((id, at) => {
      const digest = digests[at]
      const document = digest && reader.takeWritten?.(id, digest)
      if (document) found.set(id, { document, digest })
      return !document
    })
    if (others.length <= blockIds) return this.#readAll(reader, others, found)
    const read = this.#last.then(() => this.#readAll(reader, others, found))
    this.#last = read.catch(() => undefined)
    return read
  }

  async #readAll(
    reader: DocumentReader,
    ids: readonly ProductId[],
    found: FoundDocuments,
  ): Promise<FoundDocuments> {
    let beganAt = this.#clock.monotonic()
    for (let start = 0; start < ids.length; start += blockIds) {
      if (this.#clock.monotonic() - beganAt > holdsUpMs) {
        await afterOthers()
        beganAt = this.#clock.monotonic()
      }
      for (const [id, newest] of reader.readDocuments(ids.slice(start, start + blockIds)))
        found.set(id, newest)
    }
    return found
  }
}

/** What was offered with its document. */
export async function readOffered(
  connection: RedisConnection,
  keys: CatalogKeys,
  ids: readonly ProductId[],
): Promise<FoundDocuments> {
  const documents = await connection.hmgetBuffer(keys.documents, ...ids)
  const found: FoundDocuments = new Map()
  for (const [at, id] of ids.entries()) {
    const document = documents[at]
    if (document) found.set(id, { document, digest: digestDocument(document) })
  }
  return found
}

interface FitOptions extends ClaimedDocuments {
  /** What is sent of the product, by its id and its place among them. */
  find: (productId: ProductId, at: number) => Omit<ClaimedProduct, 'productId'> | undefined
  bodyBytesMax: number
}

/**
 * Which of the claimed products go into the call, which no longer fit, and of which there is no document. `replaced`: the
 * digests that were claimed, of products whose document is another one by now. Pure.
 */
export function fitDocuments({ ids, digests, find, bodyBytesMax }: FitOptions) {
  const products: ClaimedProduct[] = []
  const [unfit, missing]: [ProductId[], ProductId[]] = [[], []]
  const replaced = new Map<ProductId, Buffer>()
  let bodyBytes = 1
  for (const [at, productId] of ids.entries()) {
    const newest = find(productId, at)
    // Too large for any call, the first is handed out all the same, to be refused with that reason.
    const fits = products.length === 0 || bodyBytes + (newest?.document.length ?? 0) + 1 <= bodyBytesMax
    if (!newest) missing.push(productId)
    else if (!fits) unfit.push(productId)
    else {
      products.push({ ...newest, productId })
      bodyBytes += newest.document.length + 1
      const digest = digests[at]
      if (digest && !newest.digest.equals(digest)) replaced.set(productId, digest)
    }
  }
  return { products, documentBytes: bodyBytes - 1 - products.length, unfit, missing, replaced }
}
