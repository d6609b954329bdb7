import type { RecordFrame, RecordSlice } from './model.ts'

/**
 * Cuts one text into records, whatever the borders of its chunks. Take all batches of a call before the next one: their
 * memory is used again, and freed on disposal.
 */
export interface TextSplitter extends Disposable {
  /** The records that end in this chunk. A batch without any is a moment to give way to other work. */
  push(chunk: Buffer): Generator<RecordSlice[]>
  /** The records that only the end of the text ends. Slices of the last chunk stay valid. */
  end(): Iterable<RecordSlice[]>
  /** Bytes of text taken so far. */
  readonly textBytes: number
  /** After `end`: the last record was not followed by what ends a record. */
  readonly openEnded: boolean
  /** Number of the last record so far; the one before the first when there is none. */
  readonly lastRecord: number
  /** What stands around the records; undefined where nothing does, or before the first record. */
  readonly frame: RecordFrame | undefined
}

/** A batch ends with the record that reaches one of them. */
export const defaultBatch = { records: 128, bytes: 2 ** 19 }
