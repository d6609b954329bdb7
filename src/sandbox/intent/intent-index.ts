import { setImmediate as nextTurn } from 'node:timers/promises'
import MiniSearch from 'minisearch'
import type { ProductStore } from '../products/product-store.ts'
import { ProductNames } from './intent-names.ts'
import { type IndexedProduct, parseIndexedProduct, type SearchedText } from './intent-product.ts'
import { Vocabulary } from './intent-vocabulary.ts'
import { plainText, stemOf } from './intent-words.ts'

/** More products than that are not searched: the index takes some 4 KB of memory for each. */
const indexedProductsMax = 100_000
/** Up to here products are indexed as soon as they stop coming, so that the first request finds the work done. */
const indexedAheadMax = 50_000
const quietMs = 250
/** Other requests wait no longer than that for a turn of indexing. */
const sliceMs = 8
/** A request waits so long for the index, then ranks what is in it. */
const patienceMs = 10_000

const boost = { name: 3, brand: 3, categories: 2.5, tags: 2, more: 1, code: 4 }

export interface Hit {
  product: IndexedProduct
  score: number
  /** Those of the stems that it has. */
  terms: readonly string[]
}

interface Timing {
  /** Milliseconds, only for differences. */
  monotonic: () => number
  /** Rejects when the sandbox closes. */
  sleep: (delayMs: number) => Promise<void>
}

/**
 * The products of the store as they are searched. A product that was taken is *stale* until its turn; stale products are
 * indexed in short slices, when the store has been quiet for a moment or when a request needs them.
 */
export class ProductIndex {
  readonly vocabulary = new Vocabulary()
  readonly names = new ProductNames()
  readonly #store: ProductStore
  readonly #timing: Timing
  #search = newSearch()
  readonly #products = new Map<string, IndexedProduct>()
  readonly #stale = new Set<string>()
  #wasAsked = false
  #lastTakenMs = 0
  #isWatching = false
  #indexing: Promise<void> | undefined

  constructor(store: ProductStore, timing: Timing) {
    this.#store = store
    this.#timing = timing
    store.watch({ taken: (id) => this.#taken(id), cleared: () => this.#clear() })
    for (const { id } of store.values()) this.#taken(id)
  }

  /** Products still to come, when a request could not wait for them. */
  get stale(): number {
    return this.#stale.size
  }

  get size(): number {
    return this.#products.size
  }

  values(): MapIterator<IndexedProduct> {
    return this.#products.values()
  }

  async ready(): Promise<void> {
    this.#wasAsked = true
    const giveUpAtMs = this.#timing.monotonic() + patienceMs
    while (this.#stale.size > 0 && this.#timing.monotonic() < giveUpAtMs) {
      void this.#catchUp()
      await nextTurn()
    }
  }

  /** Products that have at least one of the stems outside their description, in one form or another. */
  search(stems: readonly string[]): Hit[] {
    if (stems.length === 0) return []
    const results = this.#search.search(stems.join(' '), {
      boost,
      tokenize: (text) => text.split(' '),
      processTerm: (stem) => stem,
      // A word that occurs as it is means itself.
      prefix: (stem) => !this.vocabulary.has(stem),
      weights: { fuzzy: 0.3, prefix: 0.4 },
    })
    const hits: Hit[] = []
    for (const { id, score, queryTerms } of results) {
      const product = this.#products.get(id as string)
      if (product !== undefined) hits.push({ product, score, terms: queryTerms })
    }
    return hits
  }

  /** The word of the catalogue that a mistyped one is likeliest to mean: people get the first letter right. */
  correct(stem: string): string | undefined {
    if (stem.length < 4) return undefined
    const results = this.#search.search(stem, { fuzzy: 0.25, processTerm: (one) => one })
    for (const { terms } of results) {
      const meant = terms.find((term) => term[0] === stem[0])
      if (meant !== undefined) return meant
    }
    return undefined
  }

  #taken(id: string): void {
    this.#stale.add(id)
    this.#lastTakenMs = this.#timing.monotonic()
    if (!this.#isWatching) void this.#watch()
  }

  /** Indexes ahead of the requests, whenever no product came for a moment. */
  async #watch(): Promise<void> {
    this.#isWatching = true
    try {
      while (this.#stale.size > 0 && (this.#wasAsked || this.#store.size <= indexedAheadMax)) {
        await this.#timing.sleep(quietMs)
        if (this.#timing.monotonic() - this.#lastTakenMs >= quietMs) await this.#catchUp()
      }
    } catch {
    } finally {
      this.#isWatching = false
    }
  }

  #catchUp(): Promise<void> {
    this.#indexing ??= this.#indexStale().finally(() => {
      this.#indexing = undefined
    })
    return this.#indexing
  }

  async #indexStale(): Promise<void> {
    const { monotonic } = this.#timing
    let sliceEndsMs = monotonic() + sliceMs
    for (const id of this.#stale) {
      this.#stale.delete(id)
      this.#index(id)
      if (monotonic() < sliceEndsMs) continue
      await nextTurn()
      sliceEndsMs = monotonic() + sliceMs
    }
  }

  #index(id: string): void {
    const held = this.#store.get(id)
    const parsed = held && parseIndexedProduct(held.document)
    const before = this.#products.get(id)
    if (before !== undefined) {
      this.vocabulary.remove(before)
      this.names.remove(before)
    }
    const isOverfull = before === undefined && this.#products.size >= indexedProductsMax
    if (parsed === undefined || isOverfull) {
      if (before !== undefined) this.#search.discard(id)
      this.#products.delete(id)
      return
    }
    const { product, text } = parsed
    // A change of price or stock alone leaves the search as it is.
    if (before?.words !== product.words) {
      if (before !== undefined) this.#search.discard(id)
      this.#search.add(text)
    }
    this.#products.set(id, product)
    this.vocabulary.add(product)
    this.names.add(product)
  }

  #clear(): void {
    this.#search = newSearch()
    this.#products.clear()
    this.#stale.clear()
    this.vocabulary.clear()
    this.names.clear()
  }
}

function newSearch(): MiniSearch<SearchedText> {
  return new MiniSearch<SearchedText>({
    fields: Object.keys(boost),
    tokenize: (text) => plainText(text).match(/[\p{L}\p{N}]+/gu) ?? [],
    processTerm: (word) => stemOf(word),
    autoVacuum: { minDirtCount: 1000, minDirtFactor: 0.2, batchSize: 500, batchWait: 10 },
  })
}
