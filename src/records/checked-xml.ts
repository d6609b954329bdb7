import assert from 'node:assert/strict'
import type { JsonObject } from './look-up.ts'
import type { RecordSlice } from './model.ts'
import type { TextSplitter } from './text-splitter.ts'
import { XmlCheck } from './xml-check.ts'
import { XmlSplitter, type XmlSplitterOptions } from './xml-splitter.ts'

/** A parser takes some 5 ms for so much. */
const pieceBytes = 128 * 2 ** 10

/**
 * The splitter of the first pass over XML: an XML parser reads every piece before the splitter does, and both must find
 * the same records. `sourceOf` gives their objects, once each and in order.
 */
export class CheckedXml implements TextSplitter {
  readonly #splitter: XmlSplitter
  readonly #check: XmlCheck
  #sources: (JsonObject | Error)[] = []
  #taken = 0

  constructor(options: XmlSplitterOptions) {
    this.#splitter = new XmlSplitter(options)
    this.#check = new XmlCheck(options.name, options.path)
  }

  get textBytes() {
    return this.#splitter.textBytes
  }

  get openEnded() {
    return this.#splitter.openEnded
  }

  get lastRecord() {
    return this.#splitter.lastRecord
  }

  get frame() {
    return this.#splitter.frame
  }

  /** The document is a file of rejected records. */
  get isRejects(): boolean {
    return this.#check.isRejects
  }

  *push(chunk: Buffer): Generator<RecordSlice[]> {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const piece = chunk.subarray(at, at + pieceBytes)
      this.#check.write(piece)
      this.#sources = this.#check.takeItems()
      this.#taken = 0
      let records = 0
      for (const batch of this.#splitter.push(piece)) {
        records += batch.length
        assert(records <= this.#sources.length, 'the splitter finds records that the XML parser does not')
        yield batch
      }
      assert.equal(records, this.#sources.length, 'the XML parser finds records that the splitter does not')
    }
  }

  end(): Iterable<RecordSlice[]> {
    this.#check.end(this.#splitter.unfinished)
    return this.#splitter.end()
  }

  /** Of the slices in the order in which they came, each once. */
  sourceOf(): JsonObject | Error {
    return this.#sources[this.#taken++] ?? new Error('has been asked for already')
  }
}
