import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SaxesParser } from 'saxes'
import { checkEncoding } from './check-encoding.ts'
import type { DamagePlaces } from './damage-places.ts'
import { lookUp } from './look-up.ts'
import {
  type Dialect,
  issueOf,
  type ParsedRecord,
  type RecordBatch,
  type RecordIssue,
  type RecordSlice,
  type RejectedRecord,
} from './model.ts'
import { type ParsedSlice, parseCsv } from './parse-csv.ts'
import { parseNdjson } from './parse-ndjson.ts'
import type { FileSource } from './read-file.ts'
import type { RecordPlaces } from './record-places.ts'
import { readSlices } from './slices.ts'
import { isCellError } from './xlsx-text.ts'
import { openParser, XmlItem, type XmlObject, type XmlScope } from './xml-items.ts'

export interface ReadOptions extends FileSource {
  /** From the first pass, so that both passes see the same text. */
  dialect: Dialect
  columns: readonly string[]
  /** The columns that the feed reads; default: all. Errors in other cells do not matter. */
  neededColumns?: readonly string[] | undefined
  recordBytes: number
  /** Which records of a batch are to be parsed; default: all. */
  select?: ((slices: readonly RecordSlice[]) => readonly RecordSlice[]) | undefined
  /** How many of them are parsed for one batch; default: all. */
  recordsPerBatch?: number | undefined
  /** Where the others need not even be split: those that are to be parsed. */
  places?: RecordPlaces | undefined
}

/** The second pass: at most 128 records or about 0.5 MB of text a batch, a few milliseconds of work. Gives way to the event loop before each. */
export async function* readRecords(options: ReadOptions): AsyncGenerator<RecordBatch> {
  const { dialect, recordBytes, select = (slices) => slices, recordsPerBatch } = options
  let bytesRead = 0
  const onProgress = (bytes: number) => {
    bytesRead = bytes
    options.onProgress?.(bytes)
  }
  const batches = options.places
    ? placedSlices(options.places, onProgress)
    : readSlices({ ...options, onProgress }, dialect, recordBytes)
  for await (const { slices, places } of batches) {
    // Slices do not outlive the batch: their memory is used again.
    await nextTurn()
    let rest = select(slices)
    do {
      const part = rest.slice(0, recordsPerBatch)
      rest = rest.slice(part.length)
      yield { ...parseSlices(part, { ...options, places }), bytesRead }
    } while (rest.length > 0)
  }
}

async function* placedSlices(records: RecordPlaces, onProgress: (bytes: number) => void) {
  for await (const slices of records.batches()) {
    onProgress(slices.at(-1)?.offset ?? 0)
    yield { slices, places: undefined }
  }
}

function parseSlices(
  slices: readonly RecordSlice[],
  {
    dialect,
    columns,
    neededColumns = columns,
    places,
  }: Pick<ReadOptions, 'dialect' | 'columns' | 'neededColumns'> & { places: DamagePlaces | undefined },
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
      ...(dialect.compression === 'xlsx' ? checkCellErrors(record, columns, neededColumns) : []),
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

/** The first needed cell of a spreadsheet's row that holds an error in place of a value: such a row is rejected. */
function checkCellErrors(
  { record, line, cells }: ParsedRecord,
  columns: readonly string[],
  needed: readonly string[],
): RecordIssue[] {
  const index = cells.findIndex((cell, at) => isCellError(cell) && needed.includes(columns[at] ?? ''))
  if (index < 0) return []
  const value = String(cells[index])
  const found = `holds ${value} in place of a value`
  const remedy =
    'correct the formula, or open the spreadsheet and save it, so that its formulas are calculated'
  const issue = issueOf({ record, line }, { code: 'cell-error', found, remedy })
  return [{ ...issue, field: columns[index], value }]
}

/** Parses record elements; the first pass has found the document around them well-formed. */
export function parseXml(slices: readonly RecordSlice[], columns: readonly string[]): ParsedSlice[] {
  const elements = new ElementParser()
  return slices.map(({ record, line, bytes, scope }) => {
    const text = bytes.toString('utf8')
    const source = elements.parse(text, scope)
    if (source instanceof Error) return rejected({ record, line, cells: [], source: text, text }, source)
    const cells = columns.map((column) => lookUp(source, column))
    return { parsed: { record, line, cells, source, text } }
  })
}

/** Opens a parser when the surroundings of the elements change: seldom. */
class ElementParser {
  #parser: SaxesParser<{ xmlns: true }> | undefined
  #scope: XmlScope | undefined
  #item: XmlItem | undefined

  parse(text: string, scope: XmlScope = { version: '1.0', namespaces: {} }): XmlObject | Error {
    try {
      this.#item = undefined
      if (this.#parser === undefined || scope !== this.#scope) this.#parser = this.#open(scope)
      this.#parser.write(text).close()
      return (this.#item as XmlItem | undefined)?.item ?? new Error('holds no element')
    } catch (error) {
      // What the parser knew of the broken element must not touch the next one.
      this.#parser = undefined
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #open(scope: XmlScope): SaxesParser<{ xmlns: true }> {
    this.#scope = scope
    const parser = openParser(scope)
    parser.on('opentag', (tag) => {
      if (this.#item === undefined) this.#item = new XmlItem(tag)
      else this.#item.open(tag)
    })
    parser.on('text', (text) => this.#item?.text(text))
    parser.on('cdata', (text) => this.#item?.text(text))
    parser.on('closetag', () => this.#item?.close())
    return parser
  }
}

function rejected(record: ParsedRecord, cause: Error): ParsedSlice {
  const remedy = 'correct the element'
  const issue: RecordIssue = {
    record: record.record,
    line: record.line,
    field: undefined,
    code: 'not-xml',
    message: `cannot be read: it ${cause.message}; ${remedy}`,
    remedy,
    severity: 'reject',
  }
  return { rejected: { ...record, issues: [issue] } }
}
