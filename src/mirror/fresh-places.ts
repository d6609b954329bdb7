import type { ProductId } from '../lib/brand.ts'
import type { DocumentDigest } from './model.ts'

/** Where calls are slower than the import, what does not fit is read. */
const placesMax = 20_000
const documentBytesMax = 20_000_000

/** Of a product of which Redis can know nothing: it was never offered. */
export interface FreshPlace {
  key: number
  number: number
  since: number
  productId: ProductId
  digest: DocumentDigest
  /** Of the document. */
  bytes: number
  document: Buffer
}

/** Places of the lane `new` that were given a moment ago, with their documents, so that calls need not read them back. */
export class FreshPlaces {
  readonly #places = new Map<number, FreshPlace>()
  #documentBytes = 0
  /** Whether calls take products from the mirror. */
  areWanted = false

  /** To be called after a change that may have taken it back, too. False: it does not fit, or nobody takes it from here. */
  add(place: FreshPlace): boolean {
    const isFull = this.#places.size >= placesMax || this.#documentBytes >= documentBytesMax
    if (!this.areWanted || isFull) return false
    this.delete(place.number)
    this.#places.set(place.number, place)
    this.#documentBytes += place.bytes
    return true
  }

  at(number: number): FreshPlace | undefined {
    return this.#places.get(number)
  }

  delete(number: number): void {
    this.#documentBytes -= this.#places.get(number)?.bytes ?? 0
    this.#places.delete(number)
  }

  clear(): void {
    this.#places.clear()
    this.#documentBytes = 0
  }
}
