import type { ProductId } from '../lib/brand.ts'
import { bodyBytesOf } from './catalog-calls.ts'
import type { ProductVerdict } from './classify.ts'
import type { RefusedProduct, UpsertResult } from './upsert-error.ts'

/** A product that the contract accepts, as it goes over the wire. */
export interface PreparedProduct extends Sendable {
  index: number
}

/** Products of one call. One that is added again takes the place of the older, so that no call holds both. */
export class UpsertBatch {
  readonly #bytesMax: number
  readonly #products = new Map<string, PreparedProduct>()
  #documentBytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get products(): PreparedProduct[] {
    return [...this.#products.values()]
  }

  /** Adds the product unless the body would become longer than a call may be; answers whether it did. */
  add(product: PreparedProduct): boolean {
    const older = this.#products.get(product.productId)
    const documentBytes = this.#documentBytes - (older?.document.length ?? 0) + product.document.length
    const count = this.#products.size + (older ? 0 : 1)
    if (bodyBytesOf({ count, documentBytes }) > this.#bytesMax) return false
    this.#products.set(product.productId, product)
    this.#documentBytes = documentBytes
    return true
  }

  /** A newer product of that id will not be sent: the older one must not be either. */
  remove(id: string): void {
    this.#documentBytes -= this.#products.get(id)?.document.length ?? 0
    this.#products.delete(id)
  }
}

/** What became of each product so far; what is settled later about an id replaces what was settled before. */
export class UpsertProgress {
  readonly #taken = new Set<string>()
  readonly #refusedById = new Map<string, RefusedProduct>()
  readonly #refusedWithoutId: RefusedProduct[] = []
  calls = 0

  /** A newer product of that id was given: what became of the older one no longer counts. */
  reopen(id: string): void {
    this.#taken.delete(id)
    this.#refusedById.delete(id)
  }

  take(products: readonly PreparedProduct[]): void {
    for (const { productId } of products) {
      this.#taken.add(productId)
      this.#refusedById.delete(productId)
    }
  }

  refuse(refused: RefusedProduct): void {
    if (refused.productId === undefined) {
      this.#refusedWithoutId.push(refused)
      return
    }
    this.#taken.delete(refused.productId)
    this.#refusedById.set(refused.productId, refused)
  }

  toResult(): UpsertResult {
    const refused = [...this.#refusedWithoutId, ...this.#refusedById.values()]
    return {
      taken: [...this.#taken],
      refused: refused.sort((a, b) => a.index - b.index),
      calls: this.calls,
    }
  }
}

/** A document that a call carries, and the product it is of. */
export interface Sendable {
  productId: ProductId
  document: Uint8Array
}

/** What an answer settles of the products of its call. */
interface Settled<P extends Sendable> {
  taken: readonly P[]
  /** By name, each with the endpoint's words. */
  refused: readonly { product: P; reason: string }[]
  /** It was alone in a call that was refused, or was too large. */
  refusedAlone?: P
  /** Parts that are to be sent again, the first one last. None is empty. */
  again: (readonly P[])[]
}

const nothing = { taken: [], refused: [], again: [] }

/**
 * Settles the products of one call, for the daemon and the client library: products refused by name are taken out, a
 * refusal that names none is halved by count, a body that was too large by bytes.
 *
 * One refused product among n is found in ⌈log₂ n⌉ steps: a call that fails has such a product in it, and each costs at
 * most two calls per step (G7).
 */
export function settlePart<P extends Sendable>(
  part: readonly P[],
  verdict: ProductVerdict,
  random: () => number,
): Settled<P> {
  if (verdict.kind === 'acknowledge' || verdict.kind === 'reject') {
    const reasons = new Map(verdict.refused.map(({ productId, reason }) => [productId, reason]))
    const rest: P[] = []
    const refused: { product: P; reason: string }[] = []
    for (const product of part) {
      const reason = reasons.get(product.productId)
      if (reason === undefined) rest.push(product)
      else refused.push({ product, reason })
    }
    // The API does not say whether a call that refuses some products took the rest. An upsert may be repeated.
    if (verdict.kind === 'acknowledge') return { ...nothing, taken: rest, refused }
    return { ...nothing, refused, again: rest.length > 0 ? [rest] : [] }
  }
  const [only] = part
  if (only !== undefined && part.length === 1) return { ...nothing, refusedAlone: only }
  if (verdict.kind === 'split') return { ...nothing, again: halveByBytes(part) }
  return { ...nothing, again: cut(shuffle(part, random), Math.ceil(part.length / 2)) }
}

export function partBytes(part: readonly Pick<Sendable, 'document'>[]): number {
  const documentBytes = part.reduce((sum, { document }) => sum + document.length, 0)
  return bodyBytesOf({ count: part.length, documentBytes })
}

/** Two parts of about equal bytes, neither of them empty; the first one last. */
export function halveByBytes<P extends Sendable>(part: readonly P[]): (readonly P[])[] {
  const half = partBytes(part) / 2
  let bytes = 0
  const middle = part.findIndex(({ document }) => {
    bytes += document.length + 1
    return bytes > half
  })
  return cut(part, Math.min(part.length - 1, Math.max(1, middle)))
}

/**
 * The same products in any order. Neighbours in a feed often share a fault, and twenty of them refused one after another
 * would look like an endpoint that refuses everything.
 */
function shuffle<P>(part: readonly P[], random: () => number): readonly P[] {
  const shuffled = [...part]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const product = shuffled[last] as P
    shuffled[last] = shuffled[other] as P
    shuffled[other] = product
  }
  return shuffled
}

function cut<P>(part: readonly P[], at: number): (readonly P[])[] {
  return [part.slice(at), part.slice(0, at)]
}
