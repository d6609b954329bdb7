import { KeptText } from './kept-text.ts'
import type { RecordFrame, RecordSlice, TextSplitter } from './model.ts'
import { fileRefusal } from './read-file.ts'

export interface SplitterOptions {
  /** What messages call the file. */
  name: string
  recordBytes: number
  firstRecord: number
  /** A batch ends with the record that reaches one of them. */
  batch?: { records: number; bytes: number }
}

/** What all splitters have in common: the text that they keep, and the numbers of the records. */
export abstract class KeptSplitter implements TextSplitter {
  /** From the beginning of the record that has not ended. */
  protected readonly kept = new KeptText()
  /** The next one. */
  protected record: number
  readonly #name: string
  readonly #batch: { records: number; bytes: number }

  constructor({ name, firstRecord, batch = { records: 128, bytes: 2 ** 19 } }: SplitterOptions) {
    this.record = firstRecord
    this.#name = name
    this.#batch = batch
  }

  get textBytes(): number {
    return this.kept.offset + this.kept.length
  }

  get lastRecord(): number {
    return this.record - 1
  }

  /** A document that does not end is refused. */
  get openEnded(): boolean {
    return false
  }

  get frame(): RecordFrame | undefined {
    return undefined
  }

  abstract push(chunk: Buffer): Generator<RecordSlice[]>

  abstract end(): Iterable<RecordSlice[]>

  [Symbol.dispose](): void {
    this.kept[Symbol.dispose]()
  }

  protected refusal(words: { code: string; found: string; hint: string }): Error {
    return fileRefusal({ name: this.#name, ...words })
  }

  /** Batches of what `next` answers, until that is nothing. */
  protected *inBatches(next: () => RecordSlice | undefined): Generator<RecordSlice[]> {
    let batch: RecordSlice[] = []
    let bytes = 0
    for (let slice = next(); slice !== undefined; slice = next()) {
      batch.push(slice)
      bytes += slice.bytes.length
      if (batch.length < this.#batch.records && bytes < this.#batch.bytes) continue
      yield batch
      batch = []
      bytes = 0
    }
    if (batch.length > 0) yield batch
  }
}
