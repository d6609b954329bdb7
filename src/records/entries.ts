import { open } from 'node:fs/promises'
import { systemErrorCode } from '../lib/errors.ts'
import { numbersPerEntry } from './entry-matcher.ts'
import type { BytesHash, HashedText } from './id-table.ts'
import { PartitionedTable } from './partitioned-table.ts'

/** Entries in a file, with a checksum behind them, in memory that threads can share. Undefined where it cannot be read, or is not as it was written. */
export async function readEntries(path: string, hash: BytesHash): Promise<Uint32Array | undefined> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    const numbers = new Uint32Array(new SharedArrayBuffer(size - (size % 4)))
    await file.read(bytesOf(numbers), 0, numbers.byteLength, 0)
    const entries = numbers.subarray(0, -2)
    const [low, high] = checksumOf(entries, hash)
    return low === numbers.at(-2) && high === numbers.at(-1) ? entries : undefined
  } catch (error) {
    if (systemErrorCode(error) !== undefined) return undefined
    throw error
  }
}

/** A list takes more room by as much; and as much is hashed at a time, since the hash copies what it is given. */
const stepBytes = 2 ** 20
/** Addresses that a list keeps for itself, not memory: 268 million entries. */
const listBytesMax = 2 ** 32

/** Entries that are being gathered. It grows where it stands: a copy of twice the size would be held beside it. */
export class EntryList {
  readonly #buffer = new ArrayBuffer(0, { maxByteLength: listBytesMax })
  /** More than there are. */
  readonly numbers = new Uint32Array(this.#buffer)
  length = 0

  add(digest: HashedText, id: HashedText): void {
    const at = this.#makeRoom(1)
    this.numbers.set(digest, at)
    this.numbers.set(id, at + 2)
  }

  copy(from: Uint32Array, at: number, count = 1): void {
    const place = this.#makeRoom(count)
    this.numbers.set(from.subarray(at, at + count * numbersPerEntry), place)
  }

  /** Where each id stands. */
  places(options: { withValues: boolean }): PartitionedTable {
    const places = new PartitionedTable(options)
    for (let place = 0, at = 2; place < this.length; place++, at += numbersPerEntry) {
      const [low = 0, high = 0] = [this.numbers[at], this.numbers[at + 1]]
      places.of(high).put(low, high, place)
    }
    return places
  }

  /** To be read by `readEntries`. */
  toBuffer(hash: BytesHash): Buffer {
    const end = this.#makeRoom(1)
    this.length -= 1
    this.numbers.set(checksumOf(this.numbers.subarray(0, end), hash), end)
    return bytesOf(this.numbers.subarray(0, end + 2))
  }

  #makeRoom(count: number): number {
    const at = this.length * numbersPerEntry
    this.length += count
    const needed = this.length * numbersPerEntry * Uint32Array.BYTES_PER_ELEMENT
    if (needed > this.#buffer.byteLength) this.#buffer.resize(Math.ceil(needed / stepBytes) * stepBytes)
    return at
  }
}

/** A hash of the hashes of the parts. */
function checksumOf(numbers: Uint32Array, hash: BytesHash): HashedText {
  const bytes = bytesOf(numbers)
  const hashes: number[] = []
  for (let at = 0; at < bytes.length; at += stepBytes)
    hashes.push(...hash(bytes.subarray(at, at + stepBytes)))
  return hash(bytesOf(Uint32Array.from(hashes)))
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
