import { readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { systemErrorCode } from '../lib/errors.ts'
import { privateFileMode } from '../lib/private-modes.ts'
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
    const [low, high] = checksumOf(hashesOf(entries, hash), hash)
    return low === numbers.at(-2) && high === numbers.at(-1) ? entries : undefined
  } catch (error) {
    if (systemErrorCode(error) !== undefined) return undefined
    throw error
  }
}

/** As much is hashed at a time, since the hash copies what it is given, and as much of a list is in memory. */
const partBytes = 2 ** 20

/** Entries that are being gathered, in a file of that path as soon as they are many. */
export class EntryList {
  length = 0
  readonly #path: string
  readonly #hash: BytesHash
  readonly #part = new Uint32Array(partBytes / Uint32Array.BYTES_PER_ELEMENT)
  #used = 0
  /** Of the parts that are in the file. */
  readonly #hashes: HashedText[] = []

  constructor(path: string, hash: BytesHash) {
    this.#path = path
    this.#hash = hash
  }

  add(digest: HashedText, id: HashedText): void {
    this.#part.set(digest, this.#used)
    this.#part.set(id, this.#used + 2)
    this.#grow(1)
  }

  copy(from: Uint32Array, at: number, count = 1): void {
    for (let entry = 0; entry < count; ) {
      const some = Math.min(count - entry, (this.#part.length - this.#used) / numbersPerEntry)
      const start = at + entry * numbersPerEntry
      this.#part.set(from.subarray(start, start + some * numbersPerEntry), this.#used)
      this.#grow(some)
      entry += some
    }
  }

  /** Where each id stands. */
  places(): PartitionedTable {
    const places = new PartitionedTable({ withValues: true })
    const numbers = this.numbers()
    for (let place = 0, at = 2; place < this.length; place++, at += numbersPerEntry) {
      const [low = 0, high = 0] = [numbers[at], numbers[at + 1]]
      places.of(high).put(low, high, place)
    }
    return places
  }

  /** All of them. */
  numbers(): Uint32Array {
    const rest = this.#part.subarray(0, this.#used)
    if (this.#hashes.length === 0) return rest
    const numbers = new Uint32Array(this.length * numbersPerEntry)
    bytesOf(numbers).set(readFileSync(this.#path))
    numbers.set(rest, numbers.length - rest.length)
    return numbers
  }

  /** Writes what is left, and a checksum for `readEntries`; it is not synced. Returns the path. */
  finish(): string {
    this.#spill()
    this.#write(Uint32Array.from(checksumOf(this.#hashes, this.#hash)))
    return this.#path
  }

  #grow(entries: number): void {
    this.length += entries
    this.#used += entries * numbersPerEntry
    if (this.#used === this.#part.length) this.#spill()
  }

  #spill(): void {
    if (this.#used === 0) return
    const part = this.#part.subarray(0, this.#used)
    this.#write(part)
    this.#hashes.push(this.#hash(bytesOf(part)))
    this.#used = 0
  }

  #write(numbers: Uint32Array): void {
    const flag = this.#hashes.length === 0 ? 'w' : 'a'
    writeFileSync(this.#path, bytesOf(numbers), { flag, mode: privateFileMode })
  }
}

function hashesOf(numbers: Uint32Array, hash: BytesHash): HashedText[] {
  const bytes = bytesOf(numbers)
  const hashes: HashedText[] = []
  for (let at = 0; at < bytes.length; at += partBytes) hashes.push(hash(bytes.subarray(at, at + partBytes)))
  return hashes
}

function checksumOf(hashesOfParts: readonly HashedText[], hash: BytesHash): HashedText {
  return hash(bytesOf(Uint32Array.from(hashesOfParts.flat())))
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
