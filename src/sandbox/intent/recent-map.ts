/** A map of bounded size: whoever was not asked for longest goes first. */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>()
  readonly #sizeMax: number

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#sizeMax) break
      this.#entries.delete(oldest)
    }
  }

  entries(): MapIterator<[string, Value]> {
    return this.#entries.entries()
  }

  clear(): void {
    this.#entries.clear()
  }
}
