import { isUtf8 } from 'node:buffer'
import { CellReader } from './cells.ts'
import { everyValid } from './check-encoding.ts'
import { CheckedXml } from './checked-xml.ts'
import type { DamagePlaces } from './damage-places.ts'
import { emptyFile } from './detect-dialect.ts'
import { GroupTable } from './group-table.ts'
import type { IdTableBuilder, TextHash } from './id-table.ts'
import type { IdReader, JudgeOptions, KnownFilter, PassResult } from './judge-model.ts'
import { lookUp } from './look-up.ts'
import { type Dialect, type RecordFrame, type RecordSlice, reasonColumn, type TextSplitter } from './model.ts'
import { columnsOf, type Header, readHeader } from './parse-csv.ts'
import { parseLine } from './parse-ndjson.ts'
import { fileRefusal } from './read-file.ts'
import { canScan } from './scan/scan-file.ts'
import { openSplitter } from './slices.ts'

/** What one pass over the texts of a file finds. `take` is given the batches of the splitter that `beginText` answers. */
export class JudgePass {
  readonly #options: JudgeOptions
  readonly #dialect: Dialect
  readonly #ids: IdTableBuilder
  readonly #hash: TextHash
  readonly #cells: CellReader
  readonly #warnings: string[] = []
  #columns: readonly string[] | undefined
  #frame: RecordFrame | undefined
  #idReader: IdReader | undefined
  #known: KnownFilter | undefined
  /** The rest of the file need not be given. */
  isScanned = false
  /** It may have been cut off, which only a look at all records tells. */
  #isDoubtful = false
  /** In the place of the table of ids where rows make products together. */
  #groups: GroupTable | undefined
  /** The text being read: its name, and whether its header has been seen where it has one. */
  #name: string
  #begun = false
  /** It, where it is XML. */
  #xml: CheckedXml | undefined
  #records = 0
  /** Expected columns that no record has had so far. */
  #unseen: readonly string[]
  #judged = 0
  #decodedBytes = 0
  #unreadableIds = 0
  #undecodable = 0
  /** Cells of the last record but one and of the last; the header counts as a record here. */
  #widths: readonly [number, number] = [0, 0]
  #lastUnparsable = false

  constructor(options: JudgeOptions, dialect: Dialect, tables: { ids: IdTableBuilder; hash: TextHash }) {
    this.#options = options
    this.#name = options.name
    this.#dialect = dialect
    this.#unseen = dialect.type === 'csv' ? [] : (options.expectedColumns ?? [])
    this.#ids = tables.ids
    this.#hash = tables.hash
    this.#cells = new CellReader(dialect)
  }

  beginText(name: string): TextSplitter {
    this.#name = name
    this.#begun = false
    this.#widths = [0, 0]
    this.#lastUnparsable = false
    const { recordBytes } = this.#options.format
    const { type, path = '' } = this.#dialect
    const before = this.#records
    this.#xml =
      type === 'xml' ? new CheckedXml({ name, path, recordBytes, firstRecord: before + 1 }) : undefined
    return this.#xml ?? openSplitter(name, this.#dialect, { recordBytes, before })
  }

  /** `places` says where the text stands in the file: what follows the first batch need not be given then. */
  async take(batch: readonly RecordSlice[], places?: DamagePlaces): Promise<void> {
    const isFirst = this.#columns === undefined
    const records = this.#begun ? batch : this.#begin(batch)
    if (isFirst) {
      const found = { dialect: this.#dialect, columns: this.#columns ?? [] }
      this.#known = await this.#options.openKnown?.(found)
    }
    if (
      isFirst &&
      places &&
      !this.#groups &&
      canScan(this.#options, this.#dialect) &&
      (await this.#scan(records, places))
    )
      return
    const others = this.#groups ? records : this.#unknownOf(records)
    this.#judge(others)
    if (others.at(-1) !== records.at(-1)) this.#lastUnparsable = false
    this.#records += records.length
    if (this.#dialect.type === 'csv') {
      for (const { bytes } of batch.slice(-2)) this.#widths = [this.#widths[1], this.#cells.count(bytes)]
    }
  }

  #unknownOf(records: readonly RecordSlice[]): readonly RecordSlice[] {
    const [xml, known] = [this.#xml, this.#known]
    if (!known) return records
    if (xml?.isKnown) return xml.unknown
    const isKnown = (record: RecordSlice) => known.isKnown(record)
    if (xml) xml.isKnown = isKnown
    return records.filter((record) => !isKnown(record))
  }

  /** `records`: the first batch. */
  async #scan(records: readonly RecordSlice[], places: DamagePlaces): Promise<boolean> {
    const known = this.#known
    const head = known?.readsFirst ? records.slice(0, 1) : []
    const from = records[head.length]
    if (!known || !from) return false
    const { format, ...source } = this.#options
    const mark = places.fileOffset(0) ?? 0
    const inFile = ({ offset, ...slice }: RecordSlice) => ({ ...slice, offset: offset + mark })
    const scan = { source, dialect: this.#dialect, recordBytes: format.recordBytes, from: inFile(from) }
    const scanned = await known.scan({ ...scan, head: head.map(inFile) })
    if (!scanned) return false
    let final: Buffer = from.bytes
    for await (const batch of scanned.places.batches()) {
      this.#judge(batch)
      final = batch.at(-1)?.bytes ?? final
    }
    this.isScanned = true
    this.#records = scanned.known + scanned.places.length
    this.#decodedBytes = source.bytes - mark
    const isShort = this.#dialect.type === 'csv' && this.#cells.count(final) < (this.#columns ?? []).length
    this.#isDoubtful = scanned.openEnded && (isShort || this.#lastUnparsable)
    return true
  }

  #judge(records: readonly RecordSlice[]): void {
    const valid = everyValid(records)
    this.#judged += records.length
    for (const slice of records) {
      const sound = valid || isUtf8(slice.bytes)
      if (!sound) this.#undecodable += 1
      const cells = this.#dialect.type === 'csv' ? this.#csvCells(slice) : this.#objectCells(slice)
      const id = cells && this.#idReader?.read(cells)
      // An id with undecodable bytes reads like others that differ from it in just these bytes.
      if (this.#groups) this.#known?.noteRow(slice)
      this.#addId(slice.record, sound || !id?.includes('\ufffd') ? id : undefined, cells)
    }
  }

  /** After a refusal: whether known records were skipped. Then all have to be read to tell what is wrong, and none counts as known. */
  forgetKnown(): boolean {
    if (!this.#xml?.hasSkipped) return false
    this.#known?.settle(undefined)
    return true
  }

  endText({ textBytes, openEnded, frame }: TextSplitter): void {
    this.#decodedBytes += textBytes
    this.#frame ??= frame
    if (!this.#begun && this.#dialect.type === 'csv') throw emptyFile(this.#name)
    // A document without records says as much as a header alone.
    if (!this.#begun && this.#dialect.type !== 'ndjson') this.#begin([])
    if (openEnded) this.#checkLastRecord(this.#columns ?? [])
  }

  /** Undefined: known records have to be judged, too. */
  async finish(): Promise<PassResult | undefined> {
    if (this.#columns === undefined) throw emptyFile(this.#options.name)
    if (this.#records === 0) {
      this.#warnings.push(`the file has ${this.#dialect.type === 'csv' ? 'a header and ' : ''}no record`)
    }
    if (this.#undecodable > 0) {
      this.#warnings.push(
        `${this.#undecodable} of ${this.#records} records hold bytes that are no ${this.#dialect.encoding}: they are rejected`,
      )
    }
    const judged = {
      columns: this.#columns,
      frame: this.#frame,
      decodedBytes: this.#decodedBytes,
      warnings: this.#warnings,
      absentColumns: this.#judged === this.#records ? this.#unseen : [],
    }
    const links = this.#idReader?.links
    const table = this.#groups
    if (!table || !links) {
      const ids = this.#known ? this.#known.settle(this.#isDoubtful ? undefined : this.#ids) : this.#ids
      return (
        ids && {
          ...judged,
          isScanned: this.isScanned,
          records: this.#records,
          unreadableIds: this.#unreadableIds,
          ids,
        }
      )
    }
    await table.finish()
    this.#known?.settleGroups(table)
    const grouping = { rows: this.#records, table, links }
    return { ...judged, records: table.groups, unreadableIds: table.withoutId, ids: table, grouping }
  }

  /** Takes the columns from the first batch of a text; returns its records. */
  #begin(batch: readonly RecordSlice[]): readonly RecordSlice[] {
    const [first] = batch
    this.#begun = true
    if (this.#columns !== undefined) return this.#beginFurther(batch, this.#columns)
    const hasHeader = this.#dialect.type === 'csv' && this.#dialect.header === undefined
    const { columns, warnings } =
      this.#dialect.type === 'csv'
        ? columnsOf(first as RecordSlice, this.#dialect, this.#name)
        : this.#objectColumns(first)
    this.#columns = columns
    this.#warnings.push(...warnings)
    this.#idReader = this.#options.openIdReader(this.#columns)
    if (this.#idReader?.links) this.#groups = new GroupTable(this.#idReader.links.by, this.#hash)
    return hasHeader ? batch.slice(1) : batch
  }

  /** What the mapping reads; the reason column tells a file of rejected records. */
  #objectColumns(first: RecordSlice | undefined): Header {
    const source = first && !this.#xml ? parseLine(first.bytes) : undefined
    const again =
      this.#xml?.isRejects ?? (source && !(source instanceof Error) && Object.hasOwn(source, reasonColumn))
    const columns = [...new Set([...this.#options.neededColumns, ...(again ? [reasonColumn] : [])])]
    return { columns, warnings: [] }
  }

  /** Texts after the first have the columns of the first: every record is read by their positions. */
  #beginFurther(batch: readonly RecordSlice[], expected: readonly string[]): readonly RecordSlice[] {
    if (this.#dialect.type !== 'csv' || this.#dialect.header !== undefined) return batch
    const { columns } = readHeader(batch[0] as RecordSlice, this.#dialect)
    if (columns.length === expected.length && columns.every((column, index) => column === expected[index])) {
      return batch.slice(1)
    }
    throw fileRefusal({
      name: this.#name,
      code: 'headers-differ',
      found: `its header (${columns.join(', ')}) is not that of the members before it (${expected.join(', ')})`,
      hint: 'Export every member with the same columns in the same order, pick some with format.members, or drop the files one by one',
    })
  }

  #addId(record: number, id: string | undefined, cells: readonly unknown[] | undefined): void {
    if (this.#groups) this.#groups.add(record, id, cells && this.#idReader?.links?.read(cells))
    else if (id === undefined) this.#unreadableIds += 1
    else this.#ids.add(id, record)
  }

  /** Those that the id reader looks at; undefined where they cannot be read. */
  #csvCells({ bytes }: RecordSlice): readonly unknown[] | undefined {
    return this.#idReader && this.#cells.readCells(bytes, this.#idReader.indices)
  }

  #objectCells(slice: RecordSlice): readonly unknown[] | undefined {
    const source = this.#xml ? this.#xml.sourceOf(slice) : parseLine(slice.bytes)
    this.#lastUnparsable = source instanceof Error
    if (source instanceof Error) return undefined
    if (this.#unseen.length > 0)
      this.#unseen = this.#unseen.filter((column) => lookUp(source, column) === undefined)
    const columns = this.#columns ?? []
    return this.#idReader?.indices.map((index) => lookUp(source, columns[index] ?? ''))
  }

  /**
   * A file that stops in the middle of its last record was cut off. A CSV record shows it only by its missing cells,
   * which mean nothing when the record before misses cells too.
   */
  #checkLastRecord(columns: readonly string[]): void {
    const [before, last] = this.#widths
    const short = this.#records > 0 && last < columns.length && before >= columns.length
    if (!this.#lastUnparsable && !short) return
    const found = this.#lastUnparsable ? 'is no valid JSON' : `has only ${last} of ${columns.length} cells`
    throw fileRefusal({
      name: this.#name,
      code: 'truncated',
      found: `the last record (${this.#records}) ends without a line end and ${found}`,
      hint: 'The file was cut off: export it again and rename it into place when it is complete; or, if it is whole, complete its last record and end it with a line end',
    })
  }
}
