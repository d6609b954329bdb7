import { type JsonListener, JsonMachine } from './json-machine.ts'
import { parseJsonPath } from './json-path.ts'
import { KeptSplitter, type SplitterOptions } from './kept-splitter.ts'
import { elementsMax } from './limits.ts'
import type { RecordSlice } from './model.ts'
import { noRecordsRefusal } from './read-file.ts'

interface JsonOptions extends SplitterOptions {
  /**
   * Keys from the root to the array of records, with dots between; empty when the root is that array. A `*` behind them
   * means the values of an object in its place.
   */
  path: string
}

/**
 * Cuts JSON at the elements of the array at one path, or at the values of the object there, and refuses what is no JSON
 * anywhere: both passes read the same records. Between chunks it stands outside of it, where `#onPath` counts the open
 * containers that lead to it, in it between records, or in a record, whose text is kept from `#recordStart` on.
 */
export class JsonSplitter extends KeptSplitter implements JsonListener {
  readonly #options: JsonOptions
  readonly #path: readonly string[]
  readonly #around: 'array' | 'object'
  readonly #machine: JsonMachine
  #onPath = 0
  /** The last key on the way is the next one of the path. */
  #keyFits = false
  readonly #fitted = new Set<number>()
  #repeatedKey = false
  #foundRecords = false
  #recordStart = -1
  #recordLine = 0
  /** Of the record so far; whether that was too many for any of them. */
  #values = 0
  #hasTooMany = false
  #ended: RecordSlice[] = []

  constructor(options: JsonOptions) {
    super(options)
    this.#options = options
    const { keys, around } = parseJsonPath(options.path)
    this.#path = keys
    this.#around = around
    this.#machine = new JsonMachine(this)
  }

  *push(chunk: Buffer): Generator<RecordSlice[]> {
    const start = this.#firstKept()
    const from = this.kept.length - start
    this.kept.append(chunk, start)
    this.#machine.shift(start)
    if (this.#recordStart >= 0) this.#recordStart -= start
    const fault = this.#machine.take(this.kept.bytes, from)
    if (fault >= 0) throw this.#notJson(fault)
    if (this.#repeatedKey) throw this.#ambiguous()
    if (this.#hasTooMany) throw this.#tooManyValues()
    const ended = this.#ended
    this.#ended = []
    let at = 0
    yield* this.inBatches(() => ended[at++])
    this.#checkLength(this.kept.length - this.#firstKept())
  }

  end(): Iterable<RecordSlice[]> {
    if (!this.#machine.end(this.kept.length)) throw this.#truncated()
    if (!this.#foundRecords) throw noRecordsRefusal(this.#options.name, this.#options.path)
    return []
  }

  key(start: number, end: number, depth: number): void {
    const name = this.#path[depth - 1]
    if (this.#onPath !== depth || name === undefined) return
    const key: unknown = JSON.parse(this.kept.bytes.toString('utf8', start, end))
    this.#keyFits = key === name
    if (!this.#keyFits) return
    if (this.#fitted.has(depth)) this.#repeatedKey = true
    this.#fitted.add(depth)
  }

  begin(at: number, depth: number, kind: 'object' | 'array' | 'scalar'): void {
    this.#values += 1
    if (this.#recordStart >= 0 && this.#values > elementsMax) this.#hasTooMany = true
    if (this.#onPath !== depth) return
    if (depth === this.#path.length + 1) {
      this.#recordStart = at
      this.#values = 0
      this.#recordLine = this.#machine.line
      return
    }
    const leadsOn = depth === 0 || this.#keyFits
    this.#keyFits = false
    if (!leadsOn || kind !== (depth === this.#path.length ? this.#around : 'object')) return
    this.#onPath = depth + 1
    if (depth === this.#path.length) this.#foundRecords = true
  }

  ended(end: number, depth: number): void {
    if (this.#onPath > depth) this.#onPath = depth
    if (this.#recordStart < 0 || depth !== this.#path.length + 1) return
    const bytes = this.kept.bytes.subarray(this.#recordStart, end)
    this.#checkLength(bytes.length)
    const offset = this.kept.offset + this.#recordStart
    this.#ended.push({ bytes, record: this.record++, line: this.#recordLine, offset })
    this.#recordStart = -1
  }

  #firstKept(): number {
    return this.#recordStart >= 0 ? this.#recordStart : (this.#machine.openKey ?? this.kept.length)
  }

  #checkLength(bytes: number): void {
    if (bytes <= this.#options.recordBytes) return
    const what = this.#recordStart < 0 ? 'a key' : 'the record that begins'
    throw this.refusal({
      code: 'record-too-long',
      found: `${what} in line ${this.#recordLine || this.#machine.line} is longer than ${this.#options.recordBytes} bytes`,
      hint: 'Check format.path, which says where the records are, or raise format.recordBytes',
    })
  }

  #notJson(at: number): Error {
    const byte = this.kept.bytes[at] as number
    const isOpening = byte === 0x5b || byte === 0x7b
    const place = `line ${this.#machine.line}, column ${this.#machine.columnAt(at)}`
    if (isOpening && this.#machine.isTooDeep) {
      return this.refusal({
        code: 'too-deep',
        found: `${place}: more than ${this.#machine.depth} objects and arrays lie in each other`,
        hint: 'Export the records with fewer levels',
      })
    }
    return this.refusal({
      code: 'not-well-formed',
      found: `${place}: found ${nameOf(byte)}, expected ${this.#machine.expected}`,
      hint: 'Correct the JSON, or export it again with a JSON library: nothing of a broken file is applied',
    })
  }

  #truncated(): Error {
    const place = `line ${this.#machine.line}, column ${this.#machine.columnAt(this.kept.length)}`
    return this.refusal({
      code: 'truncated',
      found: `the JSON ends too early, in ${place}`,
      hint: 'The file was cut off: export it again and rename it into place when it is complete',
    })
  }

  #tooManyValues(): Error {
    return this.refusal({
      code: 'too-many-elements',
      found: `a record before line ${this.#machine.line + 1} has more than ${elementsMax} values`,
      hint: 'Check format.path, which says where the records are',
    })
  }

  #ambiguous(): Error {
    return this.refusal({
      code: 'ambiguous-path',
      found: `a key of the path ${JSON.stringify(this.#options.path)} stands twice in one object (before line ${this.#machine.line})`,
      hint: 'Export the array of records under one key',
    })
  }
}

function nameOf(byte: number): string {
  if (byte > 0x20 && byte < 0x7f) return `the character ${String.fromCharCode(byte)}`
  return `the byte 0x${byte.toString(16).padStart(2, '0')}`
}
