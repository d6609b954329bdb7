import { closeSync, openSync, readSync } from 'node:fs'
import { EntryMatcher } from '../entry-matcher.ts'
import { type FoundRecord, type LineSyntax, SplitDigest } from './split-digest.ts'

const chunkBytes = 2 ** 20
const progressBytes = 32 * 2 ** 20
/** With fewer records a share says nothing. */
const recordsMin = 4096
/** Records in a row that are tried as the first of a range. */
const triesMax = 16
const none = -1
/** Of all ranges together: so much of what no thread has found is not read again. */
const missBytesMax = 32 * 2 ** 20
/** Memory that grows as a whole would be copied, and touched, twice. */
const blockBytes = 2 ** 20

/** What one thread looks at. All ranges share the memory. */
export interface RangeOptions {
  path: string
  /** Of the file. */
  bytes: number
  /** Where the ranges are cut: the first begins with a record, the others anywhere. The last one ends with the file. */
  cuts: readonly number[]
  range: number
  /** By range: where its first record begins (-1: it has none), and whether that is known. */
  begins: Float64Array
  areKnown: Int32Array
  entries: Uint32Array
  matched: Uint8Array
  syntax: LineSyntax
}

/** Numbers that a miss takes: offset, length, line, record, digest in two halves. Lines and records count from 0. */
export const numbersPerMiss = 6

export interface RangeResult {
  /** Why the threads cannot tell the records. */
  failed?: string
  records: number
  lines: number
  known: number
  misses: Float64Array<ArrayBuffer>
  /** Of the misses, one after another, each in one of these blocks; undefined where they are too many. */
  missBytes: readonly Uint8Array<ArrayBuffer>[] | undefined
  /** The last record ends with the file, without a line end: it is a miss. */
  openEnded: boolean
}

/**
 * Splits and digests the records of a range and marks those that the index holds. Whether the range begins inside a
 * quoted cell, the index tells: it begins with the first record that is known. The range before goes on up to there, and
 * fails unless a record of its own ends right there.
 */
export function scanRange(options: RangeOptions, onProgress: (bytes: number) => void): RangeResult {
  const file = openSync(options.path, 'r')
  try {
    return new RangeScan(options, file, onProgress).run()
  } finally {
    announce(options, none)
    closeSync(file)
  }
}

/** The first word counts. */
function announce({ begins, areKnown, range }: RangeOptions, begin: number): void {
  if (Atomics.load(areKnown, range) === 1) return
  begins[range] = begin
  Atomics.store(areKnown, range, 1)
  Atomics.notify(areKnown, range)
}

class RangeScan {
  readonly #options: RangeOptions
  readonly #file: number
  readonly #onProgress: (bytes: number) => void
  readonly #matcher: EntryMatcher
  readonly #splitter: SplitDigest
  readonly #misses: MissList
  #position: number
  #records = 0

  constructor(options: RangeOptions, file: number, onProgress: (bytes: number) => void) {
    const { cuts, range, entries, matched, syntax } = options
    this.#options = options
    this.#file = file
    this.#onProgress = onProgress
    this.#matcher = new EntryMatcher(entries, matched)
    this.#misses = new MissList(missBytesMax / cuts.length)
    this.#position = cuts[range] as number
    this.#splitter = new SplitDigest(syntax, this.#position)
  }

  run(): RangeResult {
    const { range, cuts } = this.#options
    if (range > 0) {
      const begin = this.#findBegin()
      announce(this.#options, begin)
      if (begin === none) return this.#result()
    }
    const untold = { bytes: 0 }
    for (let limit = cuts[range + 1] ?? this.#options.bytes; ; ) {
      if (this.#position >= limit) {
        const next = this.#limitAfter(limit)
        if (next === limit) return this.#end(limit)
        limit = next
      }
      const bytes = this.#read(limit)
      if (bytes === 0) return this.#failed('the file is shorter than it was')
      untold.bytes += bytes
      this.#splitter.take(bytes, this.#take)
      this.#splitter.shift()
      const { length } = this.#misses
      if (length > recordsMin && length > this.#records / 2) return this.#failed('most records are others')
      if (untold.bytes < progressBytes) continue
      this.#onProgress(untold.bytes)
      untold.bytes = 0
    }
  }

  /** The beginning of the range is read: then where the next one begins is known very soon. */
  #limitAfter(limit: number): number {
    const { begins, areKnown, bytes, cuts } = this.#options
    for (let next = this.#options.range + 1; next < cuts.length; next++) {
      Atomics.wait(areKnown, next, 0)
      if (begins[next] !== none) return begins[next] as number
    }
    return Math.max(limit, bytes)
  }

  #read(limit: number): number {
    const room = this.#splitter.room
    const length = Math.min(chunkBytes, room.length, limit - this.#position)
    if (length === 0) return 0
    const bytes = readSync(this.#file, room, 0, length, this.#position)
    this.#position += bytes
    return bytes
  }

  readonly #take = (found: FoundRecord): void => {
    const record = this.#records++
    if (this.#matcher.matchNear(found.low, found.high)) return
    this.#misses.add(found, record, this.#splitter.bytesOf(found))
  }

  /** As if a record began behind the first line end. */
  #findBegin(): number {
    const { bytes, cuts, range } = this.#options
    const read = this.#read(cuts[range + 1] ?? bytes)
    const from = this.#position - read
    const feed = this.#splitter.room.subarray(0, read).indexOf(0x0a)
    if (feed < 0) return none
    this.#splitter.beginAt(from + feed + 1)
    let begin = none
    let tries = 0
    this.#splitter.take(read, ({ offset, low, high }) => {
      if (tries++ >= triesMax || begin !== none) return
      if (this.#matcher.seek(low, high)) begin = offset
    })
    // Lines count from the record that the range begins with.
    this.#splitter.beginAt(begin === none ? from : begin)
    if (begin === none) return none
    this.#splitter.take(0, this.#take)
    this.#splitter.shift()
    return begin
  }

  #end(limit: number): RangeResult {
    const { offset, length, line, isClosed } = this.#splitter.rest
    if (limit < this.#options.bytes && length > 0) return this.#failed('a record stands inside another')
    if (!isClosed) return this.#failed('a quote is never closed')
    const openEnded = length > 0
    const rest = { offset, length, line, low: 0, high: 0 }
    if (openEnded) this.#misses.add(rest, this.#records++, this.#splitter.bytesOf(rest))
    return { ...this.#result(), openEnded }
  }

  #failed(failed: string): RangeResult {
    return { ...this.#result(), failed }
  }

  #result(): RangeResult {
    const { length } = this.#misses
    return {
      records: this.#records,
      lines: this.#splitter.line,
      known: this.#records - length,
      misses: this.#misses.numbers.slice(0, length * numbersPerMiss),
      missBytes: this.#misses.blocks,
      openEnded: false,
    }
  }
}

class MissList {
  numbers = new Float64Array(256 * numbersPerMiss)
  length = 0
  readonly #bytesMax: number
  #blocks: Uint8Array<ArrayBuffer>[] | undefined = []
  /** Of the last block. */
  #end = 0
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get blocks(): readonly Uint8Array<ArrayBuffer>[] | undefined {
    const last = this.#blocks?.at(-1)
    return last && this.#blocks?.with(-1, last.subarray(0, this.#end))
  }

  add({ offset, length, line, low, high }: FoundRecord, record: number, bytes: Uint8Array): void {
    const at = this.length++ * numbersPerMiss
    if (at === this.numbers.length) {
      const grown = new Float64Array(at * 2)
      grown.set(this.numbers)
      this.numbers = grown
    }
    this.numbers.set([offset, length, line, record, low, high], at)
    this.#keep(bytes)
  }

  #keep(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    if (this.#bytes > this.#bytesMax) this.#blocks = undefined
    if (!this.#blocks) return
    let block = this.#blocks.at(-1)
    if (!block || this.#end + bytes.length > block.length) {
      if (block) this.#blocks.splice(-1, 1, block.subarray(0, this.#end))
      block = Buffer.allocUnsafeSlow(Math.max(blockBytes, bytes.length))
      this.#blocks.push(block)
      this.#end = 0
    }
    block.set(bytes, this.#end)
    this.#end += bytes.length
  }
}
