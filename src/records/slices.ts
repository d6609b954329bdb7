import type { Dialect, RecordSlice } from './model.ts'
import type { FileSource } from './read-file.ts'
import { RecordSplitter } from './splitter.ts'
import { readText } from './text.ts'

/** The splitter that both passes use, so that both number the same records. */
export function openSplitter(name: string, dialect: Dialect, recordBytes: number): RecordSplitter {
  const firstRecord = dialect.type === 'ndjson' ? 1 : 0
  return new RecordSplitter({ ...dialect, name, recordBytes, firstRecord })
}

/** The records of a file in small batches, the header left out. Slices are valid until the next batch is asked for. */
export async function* readSlices(
  source: FileSource,
  dialect: Dialect,
  recordBytes: number,
): AsyncGenerator<readonly RecordSlice[]> {
  const splitter = openSplitter(source.name, dialect, recordBytes)
  for await (const chunk of readText(source, dialect)) {
    for (const batch of splitter.push(chunk)) yield withoutHeader(batch)
  }
  for (const batch of splitter.end()) yield withoutHeader(batch)
}

function withoutHeader(batch: readonly RecordSlice[]): readonly RecordSlice[] {
  return batch[0]?.record === 0 ? batch.slice(1) : batch
}
