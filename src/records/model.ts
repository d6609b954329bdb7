import type { Encoding } from '../config/model.ts'

/** How a file's bytes become records, after detection. */
export interface Dialect {
  type: 'csv' | 'ndjson'
  compression: 'none' | 'gzip' | 'zstd'
  encoding: Encoding
  /** CSV only. */
  delimiter: string
  quote: string | undefined
  /** What was configured, read from a byte order mark, or guessed: shown by `check`. */
  basis: Readonly<Record<'type' | 'encoding' | 'delimiter' | 'quote', 'configured' | 'bom' | 'detected'>>
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
}

/** One parsed record. CSV cells are strings in header order; NDJSON values keep their JSON types. */
export interface ParsedRecord {
  record: number
  line: number
  /** By index of `RecordsHeader.columns`; undefined where an NDJSON record has no such key. */
  cells: readonly unknown[]
}

/** Something wrong with one record: collected and reported, never thrown. */
export interface RecordIssue {
  record: number
  line: number
  /** Contract field or column that is wrong; undefined when the record as a whole is. */
  field: string | undefined
  /** Stable, kebab-case: `cell-count`, `not-a-number`, `required-missing` … */
  code: string
  /** What was found and what to do. Never holds a value of `supplier_cost`. */
  message: string
  /** `reject`: the record is not applied. `warn`: it is. */
  severity: 'reject' | 'warn'
  /** Product it belongs to, when its id could be read. */
  productId?: string
}
