import { PartitionedTable } from './partitioned-table.ts'

/** Of an entry: the digest of a record, and the digest of its product id, in two halves each. */
export const numbersPerEntry = 4
/** A file is much like the one before it: a record stands where it stood, or a little behind. */
const aheadMax = 32
/** Records in a row that are not found ahead, before all entries are searched for one. */
const lostMin = 64

/**
 * Which entries of an index the records of a file match, each at most once. The entries stand in the order of the file
 * they were made of: most records match the next one. A digest of zeros stands for a record that never matches.
 */
export class EntryMatcher {
  readonly entries: Uint32Array
  /** By entry: 1 where a record has matched it. */
  readonly matched: Uint8Array
  #next = 0
  #lost = 0
  /** The entries that were not matched when it was made, by their digests. */
  #places: PartitionedTable | undefined

  constructor(entries: Uint32Array, matched: Uint8Array = new Uint8Array(entries.length / numbersPerEntry)) {
    this.entries = entries
    this.matched = matched
  }

  match(low: number, high: number): boolean {
    return this.matchNear(low, high) || this.matchAnywhere(low, high)
  }

  /** Costs no memory, and misses some records that stand elsewhere. */
  matchNear(low: number, high: number): boolean {
    const end = Math.min(this.#next + aheadMax, this.matched.length)
    if (this.#take(low, high, this.#next, end)) return true
    this.#lost += 1
    // Each time twice as late: a file in another order is not searched for ever.
    const isLost = this.#lost >= lostMin && (this.#lost & (this.#lost - 1)) === 0
    return isLost && (this.#take(low, high, end, this.matched.length) || this.#take(low, high, 0, this.#next))
  }

  matchAnywhere(low: number, high: number): boolean {
    const place = this.#placesOf().of(high).get(low, high)
    return place !== undefined && this.#take(low, high, place, place + 1)
  }

  /** Goes on from the entry with this digest; false where there is none. */
  seek(low: number, high: number): boolean {
    if (!this.#take(low, high, 0, this.matched.length)) return false
    this.#next -= 1
    this.matched[this.#next] = 0
    return true
  }

  #take(low: number, high: number, from: number, to: number): boolean {
    const { entries, matched } = this
    for (let entry = from, at = from * numbersPerEntry; entry < to; entry++, at += numbersPerEntry) {
      if (entries[at] !== low || entries[at + 1] !== high || matched[entry] === 1) continue
      if (low === 0 && high === 0) return false
      matched[entry] = 1
      this.#next = entry + 1
      this.#lost = 0
      return true
    }
    return false
  }

  #placesOf(): PartitionedTable {
    if (this.#places) return this.#places
    this.#places = new PartitionedTable({ withValues: true })
    const { entries, matched } = this
    for (let entry = 0, at = 0; entry < matched.length; entry++, at += numbersPerEntry) {
      if (matched[entry] === 1) continue
      const [low = 0, high = 0] = [entries[at], entries[at + 1]]
      this.#places.of(high).put(low, high, entry)
    }
    return this.#places
  }
}
