import type { Encoding } from '../config/format-model.ts'
import type { DamagePlaces } from './damage-places.ts'
import type { XmlScope } from './xml-items.ts'

/** An extra column of a file of rejected records. A feed file that has it never counts anything as missing. */
export const reasonColumn = 'catalogd_reason'

/** How a file's bytes become records, after detection. */
export interface Dialect {
  type: 'csv' | 'ndjson' | 'json' | 'xml'
  /** `zip`: the texts are the archive's members. `xlsx`: the text is CSV that is made of one sheet's rows. */
  compression: 'none' | 'gzip' | 'zstd' | 'zip' | 'xlsx'
  /** Of a spreadsheet that is compressed once more, or of several in an archive. */
  packing?: 'gzip' | 'zstd' | 'zip' | undefined
  /** Of a zip archive: a glob of the members that are read. */
  members?: string | undefined
  /** Of a spreadsheet: the name of the sheet that is read. */
  sheet?: string | undefined
  encoding: Encoding
  /** CSV only. */
  delimiter: string
  quote: string | undefined
  /** How the first record ends. `\n` and `\r\n` both end records of such a file; a lone `\r` only in a file of the third kind. */
  lineEnd: '\n' | '\r\n' | '\r'
  /** CSV whose first record names no columns: they are called by their position, or as listed. */
  header?: 'none' | readonly string[] | undefined
  /** JSON: dotted path of the array of records, empty for the root. XML: slash path of the record element. */
  path?: string | undefined
  /** What was configured, read from a byte order mark, said by the file itself, or guessed: shown by `check`. */
  basis: Readonly<
    Record<'type' | 'encoding' | 'delimiter' | 'quote', 'configured' | 'bom' | 'declared' | 'detected'>
  >
}

/** One of the texts that a file holds: a CSV file with its own header, a JSON or XML document of its own … */
export interface FileText {
  /** What messages call it. */
  name: string
  /** UTF-8 without a byte order mark; each chunk is valid until the next is asked for. Read to the end before the next text. */
  chunks: AsyncIterable<Buffer>
  /** Of what is read so far. Text that was made of a spreadsheet has no damage. */
  places?: DamagePlaces
}

/** What stands around the records of a document, outermost first: for a file of those that were rejected. */
export interface RecordFrame {
  /** XML: `1.0` or `1.1`. */
  version: string
  /** XML: start tags, with the namespaces that the records use. */
  start: readonly string[]
  /** XML: names of the elements. */
  end: readonly string[]
}

/**
 * One record before parsing. `bytes` is UTF-8, a view into a shared chunk that is valid until the next chunk is asked
 * for, without the record's line end.
 */
export interface RecordSlice {
  bytes: Buffer
  /** Counted from 1; the header is not counted. */
  record: number
  /** First line of the record, counted from 1 in the decoded file. */
  line: number
  /** Where the record begins, in bytes of the decoded (UTF-8) text without its byte order mark. */
  offset: number
  /** XML only: what the element inherits from those around it. */
  scope?: XmlScope
}

/** One parsed record. CSV cells are strings in header order; NDJSON values keep their JSON types. */
export interface ParsedRecord {
  record: number
  line: number
  /** By index of the file's columns; undefined where an NDJSON record has no such key. */
  cells: readonly unknown[]
  /**
   * Where rows make products together: those of this one, the head first, the others in file order. `cells` are the
   * first of theirs that are not empty then; those that hold the product id are the head's.
   */
  rows?: readonly ParsedRecord[]
  /** Where a transform made it: the record as it stands in the file. */
  given?: ParsedRecord
  /** Warnings from before it was mapped. Of a rejected record all issues. */
  issues?: readonly RecordIssue[]
  /** NDJSON only: the whole object, or the text of a line that is no object, so that a reject loses nothing. */
  source?: Readonly<Record<string, unknown>> | string
  /** XML only: the element as it stands in the file. */
  text?: string
}

/** A record that is not applied. Its cells are kept as found, also when they are more or fewer than the columns. */
export interface RejectedRecord extends ParsedRecord {
  issues: readonly RecordIssue[]
  /** Further rows of a product that was rejected and counted already. */
  isRest?: boolean
  /** Of a product of several rows: the record that rejects it, the same for all of them. */
  culprit?: number
}

export interface RecordBatch {
  records: readonly ParsedRecord[]
  rejected: readonly RejectedRecord[]
  /** One warning for each record that a transform leaves out. */
  skipped?: readonly RecordIssue[]
  /** How much of the (compressed) file has been read. */
  bytesRead: number
}

/** Something wrong with one record: collected and reported, never thrown. */
export interface RecordIssue {
  record: number
  line: number
  /** Contract field or column that is wrong; undefined when the record as a whole is. */
  field: string | undefined
  /** Stable, kebab-case: `cell-count`, `not-a-number`, `required-missing` … */
  code: string
  /** The whole sentence: what was found, what is expected and what to do. Never holds a value of `supplier_cost`. */
  message: string
  /** What the record held there: at most 200 characters, on one line; never of `supplier_cost`, and without e-mail addresses. */
  value?: string | undefined
  /** What to do, as it stands in `message`; undefined where `message` does not say it. */
  remedy?: string | undefined
  /** `reject`: the record is not applied. `warn`: it is. */
  severity: 'reject' | 'warn'
  /** Product it belongs to, when its id could be read. */
  productId?: string
}

/** Of a record that is rejected as a whole. */
export function issueOf(
  { record, line }: Pick<RecordSlice, 'record' | 'line'>,
  { code, found, remedy }: { code: string; found: string; remedy: string },
): RecordIssue {
  const message = `${found}: ${remedy}`
  return { record, line, field: undefined, code, message, remedy, severity: 'reject' }
}

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
