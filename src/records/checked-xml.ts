import assert from 'node:assert/strict'
import { FileRefusedError } from '../lib/errors.ts'
import type { JsonObject } from './look-up.ts'
import type { RecordSlice } from './model.ts'
import { XmlCheck } from './xml-check.ts'
import { type XmlOptions, XmlSplitter } from './xml-splitter.ts'
import { readToken } from './xml-token.ts'

/** A parser takes some 5 ms for so much. */
const pieceBytes = 128 * 2 ** 10
/** How much of what the splitter refuses the parser is given to find a better reason. */
const lookedBytes = 2 * pieceBytes

/**
 * The splitter of the first pass over XML: an XML parser reads what the splitter has cut, before anybody gets it, and
 * both must find the same records. What ends too late is never parsed, since it would fill the memory. `sourceOf` gives
 * the objects of the last batch's records.
 *
 * Once `isKnown` is set, the parser is given an empty element in place of a known record, which was found well-formed in an
 * earlier file. From then on (`hasSkipped`) a refusal may name the wrong line.
 */
export class CheckedXml extends XmlSplitter {
  readonly #check: XmlCheck
  /** How much of the text the parser has read. */
  #checked = 0
  /** By the parser. */
  #isRefused = false
  #sources: (JsonObject | Error)[] = []
  #first = 0
  isKnown: ((record: RecordSlice) => boolean) | undefined
  hasSkipped = false
  /** The records of the last batch that are not known. */
  unknown: readonly RecordSlice[] = []

  constructor(options: XmlOptions) {
    super(options)
    this.#check = new XmlCheck(options.name, options.path)
  }

  override *push(chunk: Buffer): Generator<RecordSlice[]> {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      try {
        yield* this.#cut(chunk.subarray(at, at + pieceBytes))
      } catch (error) {
        throw this.#isRefused ? error : this.#faultBehind(error)
      }
    }
  }

  override *end(): Generator<RecordSlice[]> {
    for (const piece of this.#unchecked(this.textBytes)) this.#parse(piece)
    this.#check.end(this.unfinished)
    yield* super.end()
  }

  sourceOf({ record }: RecordSlice): JsonObject | Error {
    return this.#sources[record - this.#first] ?? new Error('is not in the last batch')
  }

  *#cut(piece: Buffer): Generator<RecordSlice[]> {
    for (const batch of super.push(piece)) {
      this.unknown = this.isKnown ? batch.filter((record) => !this.isKnown?.(record)) : batch
      if (this.unknown.length < batch.length) yield* this.#skipKnown(batch)
      const last = batch.at(-1)
      for (const text of this.#unchecked(last ? last.offset + last.bytes.length : 0)) {
        this.#parse(text)
        yield []
      }
      this.#sources = this.#check.takeItems()
      this.#first = batch[0]?.record ?? 0
      assert.equal(this.#sources.length, batch.length, 'the parser and the splitter find different records')
      yield batch
    }
    for (const text of this.#unchecked(this.cutBytes)) this.#parse(text)
    assert.equal(this.#check.takeItems().length, 0, 'the parser finds records that the splitter does not')
  }

  *#skipKnown(batch: readonly RecordSlice[]): Generator<RecordSlice[]> {
    const unknown = new Set(this.unknown)
    let texts: Buffer[] = []
    let bytes = 0
    for (const record of batch) {
      if (unknown.has(record)) continue
      for (const text of this.#unchecked(record.offset)) {
        texts.push(text)
        bytes += text.length
        if (bytes < pieceBytes) continue
        this.#parse(Buffer.concat(texts))
        texts = []
        bytes = 0
        yield []
      }
      texts.push(emptyElement(record.bytes))
      this.#checked = record.offset + record.bytes.length
    }
    this.#parse(Buffer.concat(texts))
    this.hasSkipped = true
  }

  #parse(text: Buffer): void {
    this.#isRefused = true
    this.#check.write(text)
    this.#isRefused = false
  }

  /** In pieces, each of which counts as checked when it is taken. */
  *#unchecked(to: number): Generator<Buffer> {
    while (this.#checked < to) {
      const from = this.#checked
      this.#checked = Math.min(to, from + pieceBytes)
      yield this.textBetween(from, this.#checked)
    }
  }

  /** What the parser says of the text says more than that the splitter could not cut it. */
  #faultBehind(error: unknown): unknown {
    const looked = error instanceof FileRefusedError ? lookedBytes : this.textBytes
    const isDoctype = error instanceof FileRefusedError && error.code === 'doctype'
    const end = isDoctype ? this.cutBytes : Math.min(this.textBytes, this.#checked + looked)
    try {
      for (const text of this.#unchecked(end)) this.#parse(text)
    } catch (fault) {
      return fault
    }
    return error
  }
}

/** An empty element of the same name; the element itself if it declares namespaces. */
function emptyElement(element: Buffer): Buffer {
  const tag = element.toString('utf8', 0, readToken(element, 0)?.end)
  return tag.includes('xmlns') ? element : Buffer.from(`${tag.slice(0, tag.search(/[\s/>]/))}/>`)
}
