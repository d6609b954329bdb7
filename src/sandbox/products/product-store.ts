const timesKeptMax = 100

/** A product as it was last taken. Times are milliseconds since the epoch, with fractions. */
export interface HeldProduct {
  readonly id: string
  document: Buffer
  /** How often it was taken, ever. */
  timesTaken: number
  /** The last hundred times, oldest first. */
  receivedAtMs: number[]
}

export interface ProductWatcher {
  taken(id: string): void
  cleared(): void
}

/**
 * The products that the sandbox holds. A million of them fit in memory because only the bytes are kept, never the
 * parsed object.
 */
export class ProductStore {
  readonly #watchers: ProductWatcher[] = []
  #revision = 0
  readonly #products = new Map<string, HeldProduct>()
  #firstReceivedAtMs: number | undefined
  #lastReceivedAtMs: number | undefined
  #documentsTaken = 0

  watch(watcher: ProductWatcher): void {
    this.#watchers.push(watcher)
  }

  /** Goes up with every change: whoever writes the data down sees by it whether there is something new. */
  get revision(): number {
    return this.#revision
  }

  get size(): number {
    return this.#products.size
  }

  get documentsTaken(): number {
    return this.#documentsTaken
  }

  get firstReceivedAtMs(): number | undefined {
    return this.#firstReceivedAtMs
  }

  get lastReceivedAtMs(): number | undefined {
    return this.#lastReceivedAtMs
  }

  /** Takes a copy of the document: a view would keep the whole request body alive for as long as the product. */
  take(id: string, document: Buffer, atMs: number): void {
    this.#documentsTaken += 1
    this.#firstReceivedAtMs ??= atMs
    this.#lastReceivedAtMs = atMs
    const held = this.#products.get(id)
    if (held === undefined) {
      this.#products.set(id, { id, document: Buffer.from(document), timesTaken: 1, receivedAtMs: [atMs] })
    } else {
      held.document = Buffer.from(document)
      held.timesTaken += 1
      held.receivedAtMs.push(atMs)
      if (held.receivedAtMs.length > timesKeptMax) held.receivedAtMs.shift()
    }
    this.#revision += 1
    for (const watcher of this.#watchers) watcher.taken(id)
  }

  /** Puts one back as it was kept. */
  restore(held: HeldProduct): void {
    this.#products.set(held.id, held)
    this.#documentsTaken += held.timesTaken
    for (const atMs of held.receivedAtMs) {
      this.#firstReceivedAtMs = Math.min(this.#firstReceivedAtMs ?? atMs, atMs)
      this.#lastReceivedAtMs = Math.max(this.#lastReceivedAtMs ?? atMs, atMs)
    }
  }

  get(id: string): HeldProduct | undefined {
    return this.#products.get(id)
  }

  /** In the order in which the products were first taken. */
  values(): MapIterator<HeldProduct> {
    return this.#products.values()
  }

  clear(): void {
    this.#products.clear()
    this.#documentsTaken = 0
    this.#firstReceivedAtMs = undefined
    this.#lastReceivedAtMs = undefined
    this.#revision += 1
    for (const watcher of this.#watchers) watcher.cleared()
  }
}
