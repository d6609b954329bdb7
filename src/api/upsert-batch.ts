import { bodyBytesOf } from './call-body.ts'
import type { Sendable } from './settle-part.ts'
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
