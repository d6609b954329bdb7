import type { DamagePlaces } from './damage-places.ts'
import { JsonSplitter } from './json-splitter.ts'
import type { Dialect, RecordSlice, TextSplitter } from './model.ts'
import type { FileSource } from './read-file.ts'
import { RecordSplitter } from './splitter.ts'
import { readTexts } from './text.ts'
import { XmlSplitter } from './xml-splitter.ts'

/**
 * The splitter of one text that both passes use, so that both number the same records. `before` records stand in the
 * texts before it; a header takes the number `before`, which no record of this text has.
 */
export function openSplitter(
  name: string,
  dialect: Dialect,
  { recordBytes, before }: { recordBytes: number; before: number },
): TextSplitter {
  const { type, path = '' } = dialect
  if (type === 'json') return new JsonSplitter({ name, path, recordBytes, firstRecord: before + 1 })
  if (type === 'xml') return new XmlSplitter({ name, path, recordBytes, firstRecord: before + 1 })
  const hasHeader = type === 'csv' && dialect.header === undefined
  return new RecordSplitter({
    ...dialect,
    // A line of JSON has no cells: one of nothing but commas is not blank, but wrong.
    delimiter: type === 'ndjson' ? '\n' : dialect.delimiter,
    name,
    recordBytes,
    hasCells: type === 'csv',
    firstRecord: hasHeader ? before : before + 1,
  })
}

/** The records of a file in small batches, the header left out. Slices are valid until the next batch is asked for. */
export async function* readSlices(
  source: FileSource,
  dialect: Dialect,
  recordBytes: number,
): AsyncGenerator<{ slices: readonly RecordSlice[]; places: DamagePlaces | undefined }> {
  let before = 0
  for await (const { name, chunks, places } of readTexts(source, dialect)) {
    using splitter = openSplitter(name, dialect, { recordBytes, before })
    const withoutHeader = (batch: readonly RecordSlice[]) => ({
      slices: batch[0]?.record === before ? batch.slice(1) : batch,
      places,
    })
    for await (const chunk of chunks) {
      for (const batch of splitter.push(chunk)) yield withoutHeader(batch)
    }
    for (const batch of splitter.end()) yield withoutHeader(batch)
    before = splitter.lastRecord
  }
}
