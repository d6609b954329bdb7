import { setImmediate as nextTurn } from 'node:timers/promises'
import { checkCellErrors } from './check-cell-errors.ts'
import { checkEncoding } from './check-encoding.ts'
import type { DamagePlaces } from './damage-places.ts'
import type { Dialect, ParsedRecord, RecordBatch, RecordSlice, RejectedRecord } from './model.ts'
import { type ParsedSlice, parseCsv } from './parse-csv.ts'
import { parseNdjson } from './parse-ndjson.ts'
import { parseXml } from './parse-xml.ts'
import type { FileSource } from './read-file.ts'
import { readSlices } from './slices.ts'

export interface ReadOptions extends FileSource {
  /** From the first pass, so that both passes see the same text. */
  dialect: Dialect
  columns: readonly string[]
  recordBytes: number
}

/** The second pass: at most 128 records or about 0.5 MB of text a batch, a few milliseconds of work. Gives way to the event loop before each. */
export async function* readRecords(options: ReadOptions): AsyncGenerator<RecordBatch> {
  const { dialect, columns, recordBytes } = options
  let bytesRead = 0
  const onProgress = (bytes: number) => {
    bytesRead = bytes
    options.onProgress?.(bytes)
  }
  for await (const { slices, places } of readSlices({ ...options, onProgress }, dialect, recordBytes)) {
    // The seam of the skip stage: slices are whole, numbered and not parsed yet. Whoever knows the digest of
    // `slice.bytes` from the feed's previous full file leaves the slice out here; the parser takes any selection of
    // slices of one batch, in file order. Slices do not outlive the batch: their memory is used again.
    await nextTurn()
    yield { ...parseSlices(slices, { dialect, columns, places }), bytesRead }
  }
}

/** Parses a selection of the slices of one batch. */
function parseSlices(
  slices: readonly RecordSlice[],
  {
    dialect,
    columns,
    places,
  }: Pick<ReadOptions, 'dialect' | 'columns'> & { places: DamagePlaces | undefined },
): Omit<RecordBatch, 'bytesRead'> {
  const encodingIssues = checkEncoding(slices, columns, places)
  const results = parse(slices, dialect, columns)
  const records: ParsedRecord[] = []
  const rejected: RejectedRecord[] = []
  for (const result of results) {
    const record = recordOf(result)
    const found = encodingIssues.get(record.record)
    const own = [
      ...(found ? [found] : []),
      ...('rejected' in result ? result.rejected.issues : []),
      ...(dialect.compression === 'xlsx' ? checkCellErrors(record, columns) : []),
    ]
    if (own.some(({ severity }) => severity === 'reject')) rejected.push({ ...record, issues: own })
    else records.push(own.length > 0 ? { ...record, issues: own } : record)
  }
  return { records, rejected }
}

function parse(slices: readonly RecordSlice[], dialect: Dialect, columns: readonly string[]): ParsedSlice[] {
  if (dialect.type === 'csv') return parseCsv(slices, dialect, columns)
  return dialect.type === 'xml' ? parseXml(slices, columns) : parseNdjson(slices, columns)
}

function recordOf(result: ParsedSlice): ParsedRecord {
  return 'parsed' in result ? result.parsed : result.rejected
}
