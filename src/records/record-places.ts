import { closeSync, openSync, readSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordSlice } from './model.ts'

/** Records that take no more together are kept where their bytes are given. */
const keptBytesMax = 32 * 2 ** 20
const keptRecordsMax = 100_000
const batchRecords = 128
const batchBytes = 2 ** 19
const numbersPerPlace = 4

/** Where records of a file stand that is not compressed, and is UTF-8: they are read without what stands between them. */
export class RecordPlaces {
  readonly #path: string
  #numbers = new Float64Array(256 * numbersPerPlace)
  /** Their bytes, as long as all were given and are few. */
  #kept: Uint8Array[] | undefined = []
  #bytes = 0
  length = 0

  constructor(path: string) {
    this.#path = path
  }

  /** In file order. `offset` counts from the beginning of the file. `bytes` are kept; without them all are read there. */
  add(
    { offset, length, line, record }: Omit<RecordSlice, 'bytes'> & { length: number },
    bytes?: Uint8Array,
  ): void {
    const at = this.length++ * numbersPerPlace
    if (at === this.#numbers.length) {
      const grown = new Float64Array(at * 2)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers.set([offset, length, line, record], at)
    this.#bytes += length
    if (!bytes || this.#bytes > keptBytesMax || this.length > keptRecordsMax) this.#kept = undefined
    if (bytes) this.#kept?.push(bytes)
  }

  /** Small batches, each valid until the next is asked for. Gives way to the event loop after each. */
  async *batches(): AsyncGenerator<RecordSlice[]> {
    const kept = this.#kept
    const file = kept ? -1 : openSync(this.#path, 'r')
    try {
      for (let place = 0; place < this.length; ) {
        const batch: RecordSlice[] = []
        for (
          let bytes = 0;
          batch.length < batchRecords && bytes < batchBytes && place < this.length;
          place++
        ) {
          const [offset = 0, length = 0, line = 0, record = 0] = this.#place(place)
          const given = kept?.[place]
          const slice = given ? bufferOf(given) : Buffer.allocUnsafe(length)
          if (!given) readWhole(file, slice, offset)
          batch.push({ bytes: slice, record, line, offset })
          bytes += length
        }
        yield batch
        await nextTurn()
      }
    } finally {
      if (file !== -1) closeSync(file)
    }
  }

  #place(place: number): Float64Array {
    return this.#numbers.subarray(place * numbersPerPlace, (place + 1) * numbersPerPlace)
  }
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

function readWhole(file: number, buffer: Buffer, offset: number): void {
  for (let done = 0; done < buffer.length; ) {
    const read = readSync(file, buffer, done, buffer.length - done, offset + done)
    if (read === 0) throw new Error(`the file ends before byte ${offset + buffer.length}`)
    done += read
  }
}
