import type { FormatConfig } from '../config/format-model.ts'
import type { GroupConfig } from '../config/model.ts'
import type { GroupTable, RowLinks } from './group-table.ts'
import type { IdTable, IdTableBuilder } from './id-table.ts'
import type { Dialect, RecordFrame, RecordSlice } from './model.ts'
import type { FileSource } from './read-file.ts'
import type { ScannedFile, ScanOptions } from './scan/scan-file.ts'

/** Reads the product id of a record without the rest of it. */
export interface IdReader {
  /** Columns that it looks at. */
  indices: readonly number[]
  /** `cells[i]` is the cell of the column at `indices[i]`. Undefined when they hold no id. */
  read(cells: readonly unknown[]): string | undefined
  /** Where several rows make a product; else every row is one. */
  links?: LinkReader | undefined
}

/** Reads what a row says about the rows it belongs together with. */
export interface LinkReader {
  by: GroupConfig['by']
  /** Columns of the file, by index, that hold the id: of a product they are read from its first row alone. */
  headColumns: readonly number[]
  /** The column that names other rows; undefined where only the id counts. */
  column: string | undefined
  /** Of the same cells as the id. */
  read(cells: readonly unknown[]): RowLinks
}

export interface JudgeOptions extends FileSource {
  format: FormatConfig
  /** Columns that the mapping reads. They steer detection and are the columns of an NDJSON file. */
  neededColumns: readonly string[]
  /** Of JSON and XML: columns that are reported when no record has them. */
  expectedColumns?: readonly string[]
  /** Given the file's columns; undefined when the columns of the id are not among them. */
  openIdReader: (columns: readonly string[]) => IdReader | undefined
  /** Tells of records which are known; undefined: none is. Asked once the columns are known. */
  openKnown?: ((found: Found) => Promise<KnownFilter | undefined>) | undefined
}

interface Found {
  dialect: Dialect
  columns: readonly string[]
}

/** Tells which records need not be judged, since all that they say is applied. */
export interface KnownFilter {
  /** The first record is never known: more than its id is read. */
  readonly readsFirst: boolean
  /** Asked once of each record, in file order. Where rows make products together they are noted instead. */
  isKnown(record: RecordSlice): boolean
  noteRow(row: RecordSlice): void
  /** Asked instead of the records of a whole file, where that is quicker; undefined: each is to be asked. */
  scan(scan: Omit<ScanOptions, 'seed' | 'matcher' | 'threads'>): Promise<ScannedFile | undefined>
  /**
   * After the last record: the ids of all, given those of the others. Undefined: none may count as known, which is so
   * where the others are not certain.
   */
  settle(others: IdTableBuilder | undefined): IdTable | undefined
  /** The same where rows make products together. */
  settleGroups(table: GroupTable): void
}

export interface PassResult {
  /** In file order; of an NDJSON file the needed columns, and the reason column where the first record has it. */
  columns: readonly string[]
  /** What stands around the records of an XML file. */
  frame?: RecordFrame | undefined
  /** The header is not counted, nor are blank records. Rows of one product count as one record. */
  records: number
  /** Where rows make products together. */
  grouping?: { rows: number; table: GroupTable; links: LinkReader } | undefined
  /** Expected columns that no record has; empty where not all records were judged. */
  absentColumns: readonly string[]
  /** Records whose id cannot be read: nothing can be said about what is missing from the file. */
  unreadableIds: number
  /** UTF-8 text without its byte order mark. */
  decodedBytes: number
  ids: IdTable
  /** Threads have told the known records: all of the file is UTF-8. */
  isScanned?: boolean
  /** About the file as a whole; none of them keeps it from being imported. */
  warnings: readonly string[]
}
