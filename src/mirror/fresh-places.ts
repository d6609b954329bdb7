import type { ProductId } from '../lib/brand.ts'
import type { DocumentDigest } from './model.ts'

/** Of a few hundred bytes each; where calls are slower than the import, the others are read. */
const placesMax = 20_000

/** Of a product of which Redis can know nothing: it was never offered. */
export interface FreshPlace {
  key: number
  number: number
  since: number
  productId: ProductId
  digest: DocumentDigest
  /** Of the document. */
  bytes: number
}

/** Places of the lane `new` that were given a moment ago, so that calls need not read them back. */
export class FreshPlaces {
  readonly #places = new Map<number, FreshPlace>()
  /** Whether calls take products from the mirror. */
  areWanted = false

  /** To be called after a change that may have taken it back, too. */
  add(place: FreshPlace): void {
    if (this.areWanted && this.#places.size < placesMax) this.#places.set(place.number, place)
  }

  at(number: number): FreshPlace | undefined {
    return this.#places.get(number)
  }

  delete(number: number): void {
    this.#places.delete(number)
  }

  clear(): void {
    this.#places.clear()
  }
}
