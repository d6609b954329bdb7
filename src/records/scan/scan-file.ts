import { isUtf8 } from 'node:buffer'
import { BlankTest } from '../blank-test.ts'
import type { EntryMatcher } from '../entry-matcher.ts'
import type { Dialect, RecordSlice } from '../model.ts'
import type { FileSource } from '../read-file.ts'
import { RecordPlaces } from '../record-places.ts'
import { numbersPerMiss, type RangeResult } from './scan-range.ts'
import { bytesMin, type ScanThreads } from './scan-threads.ts'

export interface ScanOptions {
  threads: ScanThreads
  source: FileSource
  dialect: Dialect
  recordBytes: number
  /** Of the digests. */
  seed: bigint
  matcher: EntryMatcher
  /** From this record on; offsets count from the beginning of the file. */
  from: Omit<RecordSlice, 'bytes'>
  /** Of the records before it those that are not known. */
  head: readonly RecordSlice[]
}

export interface ScannedFile {
  /** From `from` on. */
  known: number
  /** Of all others in the file. */
  places: RecordPlaces
  /** The last record ends without a line end; it is one of the others. */
  openEnded: boolean
}

/** Whether threads can tell the records of a file, and it is long enough to be worth it. */
export function canScan({ bytes }: FileSource, dialect: Dialect): boolean {
  const { type, compression, encoding, lineEnd, delimiter } = dialect
  const isPlain = compression === 'none' && encoding === 'utf-8' && lineEnd !== '\r'
  return (
    isPlain && bytes >= bytesMin && (type === 'ndjson' || (type === 'csv' && /^[\0-\x7f]$/.test(delimiter)))
  )
}

/**
 * Tells over the bytes of a file which records an index holds, in several threads. Undefined where that cannot be told
 * for sure, or most records are others: the file has to be read record by record then, and tells what is wrong with it.
 */
export async function scanFile(options: ScanOptions): Promise<ScannedFile | undefined> {
  const { matcher } = options
  const before = matcher.matched.slice()
  const scanned = await scanRanges(options)
  if (!scanned) matcher.matched.set(before)
  return scanned
}

async function scanRanges(options: ScanOptions): Promise<ScannedFile | undefined> {
  const { source, matcher, from } = options
  const already = count(matcher.matched)
  const { length } = options.threads
  const share = (source.bytes - from.offset) / length
  const cuts = Array.from({ length }, (_, range) => from.offset + Math.floor(share * range))
  const results = await runThreads(options, cuts)
  if (results.some(({ failed }) => failed !== undefined)) return undefined
  const others = new Others(options)
  let known = 0
  for (const result of results) known += result.known + others.add(result)
  // Two threads may have matched the same entry.
  if (count(matcher.matched) !== already + known) return undefined
  const places = await others.sound()
  if (!places) return undefined
  return { known, places, openEnded: results.some(({ openEnded }) => openEnded) }
}

/** Of bytes that are 0 or 1, four at a time. */
function count(matched: Uint8Array): number {
  const words = new Uint32Array(matched.buffer, matched.byteOffset, matched.length >>> 2)
  let sum = 0
  for (let at = 0; at < words.length; at++) sum += Math.imul(words[at] as number, 0x01010101) >>> 24
  for (let entry = words.length * 4; entry < matched.length; entry++) sum += matched[entry] as number
  return sum
}

async function runThreads(options: ScanOptions, cuts: readonly number[]): Promise<RangeResult[]> {
  const { threads, source, dialect, seed, matcher } = options
  const { onProgress, signal } = source
  let bytesRead = options.from.offset
  const shared = {
    ...{ path: source.path, bytes: source.bytes, cuts, entries: matcher.entries, matched: matcher.matched },
    begins: new Float64Array(new SharedArrayBuffer(cuts.length * 8)),
    areKnown: new Int32Array(new SharedArrayBuffer(cuts.length * 4)),
    syntax: {
      delimiter: dialect.type === 'csv' ? dialect.delimiter.charCodeAt(0) : 0x0a,
      quote: dialect.quote?.charCodeAt(0),
      seed,
    },
  }
  const onBytes = (bytes: number) => {
    bytesRead += bytes
    onProgress?.(bytesRead)
  }
  return await threads.run(
    cuts.map((_, range) => ({ ...shared, range })),
    { onBytes, signal },
  )
}

/** The records that no thread has found in the index, with their numbers in the whole file. */
class Others {
  readonly #options: ScanOptions
  readonly #places: RecordPlaces
  #line: number
  #record: number

  constructor(options: ScanOptions) {
    const { source, from, head } = options
    this.#options = options
    this.#places = new RecordPlaces(source.path)
    this.#line = from.line
    this.#record = from.record
    for (const slice of head)
      this.#places.add({ ...slice, length: slice.bytes.length }, Buffer.from(slice.bytes))
  }

  /** Answers how many of a range's are known nevertheless: they stand elsewhere than in the file before. */
  add({ misses, missBytes, records, lines }: RangeResult): number {
    const { matcher } = this.#options
    let [known, from, block] = [0, 0, 0]
    for (let at = 0; at < misses.length; at += numbersPerMiss) {
      const [offset = 0, length = 0, line = 0, record = 0, low = 0, high = 0] = misses.subarray(
        at,
        at + numbersPerMiss,
      )
      const left = (missBytes?.[block]?.length ?? 0) - from
      if (left === 0) [from, block] = [0, block + 1]
      const bytes = missBytes?.[block]?.subarray(from, from + length)
      from += length
      if (matcher.matchAnywhere(low, high)) known += 1
      else this.#places.add({ offset, length, line: this.#line + line, record: this.#record + record }, bytes)
    }
    this.#line += lines
    this.#record += records
    return known
  }

  /** Without the blank ones, which are no records. Undefined where one is not what such a file may hold. */
  async sound(): Promise<RecordPlaces | undefined> {
    const { source, dialect, recordBytes } = this.#options
    const delimiter = dialect.type === 'csv' ? dialect.delimiter : '\n'
    const blank = new BlankTest({ delimiter, quote: dialect.quote })
    const records = new RecordPlaces(source.path)
    let blanks = 0
    for await (const batch of this.#places.batches()) {
      for (const { bytes, offset, line, record } of batch) {
        const { length } = bytes
        if (length > recordBytes || !isUtf8(bytes)) return undefined
        if (blank.isBlank(bytes)) blanks += 1
        else records.add({ offset, length, line, record: record - blanks }, bytes)
      }
    }
    // Where none is blank, the places are right as they are.
    return blanks === 0 ? this.#places : records
  }
}
