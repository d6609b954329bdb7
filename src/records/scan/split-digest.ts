import { readFileSync } from 'node:fs'

/** As `split-digest.wat` lays out its memory. */
const bytesPerEntry = 24
const entriesMax = 32_768
const textAt = 2 ** 20
/** Read beyond the text, whatever stands there. */
const slackBytes = 64

export interface LineSyntax {
  /** Bytes. */
  delimiter: number
  quote: number | undefined
  /** Of the digests. */
  seed: bigint
}

interface Global<Value = number> {
  value: Value
}

/** As far as it is used; the libraries of the compiler have it for browsers alone. */
interface Wasm {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

interface Exports {
  memory: { buffer: ArrayBuffer }
  split(end: number, countMax: number): number
  quote: Global
  delimiter: Global
  seed: Global<bigint>
  start: Global
  startLine: Global
  position: Global
  inQuotes: Global
  line: Global
}

export interface FoundRecord {
  /** In bytes of the file; without its line end. */
  offset: number
  length: number
  /** Counted from 0 where the text begins. */
  line: number
  low: number
  high: number
}

/**
 * Cuts text into records where `RecordSplitter` does, blank ones included, and digests each. Only of lines that end with
 * a line feed, and of a delimiter and a quote of one byte each. Text is written to `room`; what of it has not ended moves
 * to the beginning.
 */
export class SplitDigest {
  readonly #exports: Exports
  readonly #bytes: Uint8Array
  readonly #entries: Uint32Array
  /** Where the text ends in memory, and where its beginning there stands in the file. */
  #end = textAt
  #offset: number
  readonly #record: FoundRecord = { offset: 0, length: 0, line: 0, low: 0, high: 0 }

  constructor({ delimiter, quote, seed }: LineSyntax, offset: number) {
    const { Module, Instance } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly
    const module = new Module(readFileSync(new URL('./split-digest.wasm', import.meta.url)))
    this.#exports = new Instance(module).exports as Exports
    const { memory } = this.#exports
    this.#bytes = new Uint8Array(memory.buffer)
    this.#entries = new Uint32Array(memory.buffer, 0, (entriesMax * bytesPerEntry) / 4)
    this.#exports.delimiter.value = delimiter
    if (quote !== undefined) this.#exports.quote.value = quote
    this.#exports.seed.value = BigInt.asIntN(64, seed)
    this.#offset = offset
    this.beginAt(offset)
  }

  /** A record begins there, in the text that was taken; its line counts from 0. */
  beginAt(offset: number): void {
    const { start, position, inQuotes, line, startLine } = this.#exports
    start.value = position.value = textAt + (offset - this.#offset)
    inQuotes.value = line.value = startLine.value = 0
  }

  /** Where further text is to be written. */
  get room(): Uint8Array {
    return this.#bytes.subarray(this.#end, this.#bytes.length - slackBytes)
  }

  /** The first bytes of `room` are further text. Its records, each valid for the call; the last one once a line feed ends it. */
  take(bytes: number, onRecord: (record: FoundRecord) => void): void {
    this.#end += bytes
    for (let count = entriesMax; count === entriesMax; ) {
      count = this.#exports.split(this.#end, entriesMax)
      for (let entry = 0; entry < count; entry++) onRecord(this.#recordAt(entry * (bytesPerEntry / 4)))
    }
  }

  /** Makes room. */
  shift(): void {
    const { start, position } = this.#exports
    const by = start.value - textAt
    this.#bytes.copyWithin(textAt, start.value, this.#end)
    start.value -= by
    position.value -= by
    this.#end -= by
    this.#offset += by
  }

  /** Of a record that was found in the text that was taken last. Valid until more is taken. */
  bytesOf({ offset, length }: Pick<FoundRecord, 'offset' | 'length'>): Uint8Array {
    const at = textAt + (offset - this.#offset)
    return this.#bytes.subarray(at, at + length)
  }

  /** What no line feed has ended; `isClosed`: nor is a quote open, where the text ends here. */
  get rest(): { offset: number; length: number; line: number; isClosed: boolean } {
    const { start, startLine, position, inQuotes } = this.#exports
    return {
      offset: this.#offset + start.value - textAt,
      length: this.#end - start.value,
      line: startLine.value,
      isClosed: inQuotes.value === 0 || position.value < this.#end,
    }
  }

  get line(): number {
    return this.#exports.line.value
  }

  #recordAt(at: number): FoundRecord {
    const [entries, record] = [this.#entries, this.#record]
    record.offset = this.#offset + (entries[at] as number) - textAt
    record.length = entries[at + 1] as number
    record.line = entries[at + 2] as number
    record.low = entries[at + 4] as number
    record.high = entries[at + 5] as number
    return record
  }
}
