import { open } from 'node:fs/promises'
import { systemErrorCode } from '../lib/errors.ts'
import { numbersPerEntry } from './entry-matcher.ts'
import type { BytesHash, HashedText } from './id-table.ts'
import { PartitionedTable } from './partitioned-table.ts'

/** Entries in a file, with a checksum behind them, in memory that threads can share. Undefined where it is not there, or not as it was written. */
export async function readEntries(path: string, hash: BytesHash): Promise<Uint32Array | undefined> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    const numbers = new Uint32Array(new SharedArrayBuffer(size - (size % 4)))
    await file.read(bytesOf(numbers), 0, numbers.byteLength, 0)
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
