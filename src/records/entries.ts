import { readFile } from 'node:fs/promises'
import { systemErrorCode } from '../lib/errors.ts'
import type { BytesHash, HashedText } from './id-table.ts'
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

  constructor(entries: Uint32Array, matched = new Uint8Array(entries.length / numbersPerEntry)) {
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

  /** Whether one of the next records is there: so a file cut anywhere shows where a record begins. */
  find(low: number, high: number): boolean {
    return this.#take(low, high, 0, this.matched.length)
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

/** Entries in a file, with a checksum behind them. Undefined where it is not there, or not as it was written. */
export async function readEntries(path: string, hash: BytesHash): Promise<Uint32Array | undefined> {
  try {
    const bytes = await readFile(path)
    const numbers = new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4))
    const entries = numbers.subarray(0, -2)
    const [low, high] = hash(bytesOf(entries))
    return low === numbers.at(-2) && high === numbers.at(-1) ? entries : undefined
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Entries that are being gathered. */
export class EntryList {
  /** More than there are. */
  numbers: Uint32Array
  length = 0

  constructor(count = 256) {
    // Room for the checksum, too.
    this.numbers = new Uint32Array((count + 1) * numbersPerEntry)
  }

  add(digest: HashedText, id: HashedText): void {
    const at = this.#makeRoom(1)
    this.numbers.set(digest, at)
    this.numbers.set(id, at + 2)
  }

  copy(from: Uint32Array, at: number, count = 1): void {
    const place = this.#makeRoom(count)
    for (let number = 0; number < count * numbersPerEntry; number++)
      this.numbers[place + number] = from[at + number] as number
  }

  /** Where each id stands. */
  places(): PartitionedTable {
    const places = new PartitionedTable({ withValues: true })
    for (let place = 0, at = 2; place < this.length; place++, at += numbersPerEntry) {
      const [low = 0, high = 0] = [this.numbers[at], this.numbers[at + 1]]
      places.of(high).put(low, high, place)
    }
    return places
  }

  /** To be read by `readEntries`. */
  toBuffer(hash: BytesHash): Buffer {
    const end = this.length * numbersPerEntry
    this.numbers.set(hash(bytesOf(this.numbers.subarray(0, end))), end)
    return bytesOf(this.numbers.subarray(0, end + 2))
  }

  #makeRoom(count: number): number {
    const at = this.length * numbersPerEntry
    this.length += count
    const needed = (this.length + 1) * numbersPerEntry
    if (needed > this.numbers.length) {
      const grown = new Uint32Array(Math.max(needed, this.numbers.length * 2))
      grown.set(this.numbers.subarray(0, at))
      this.numbers = grown
    }
    return at
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
