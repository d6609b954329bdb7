import { CellReader } from './cells.ts'
import type { Dialect, RecordSlice } from './model.ts'
import { RecordSplitter } from './splitter.ts'

export interface DelimiterInput {
  text: Buffer
  complete: boolean
  quote: string | undefined
  neededColumns: readonly string[]
  candidates: readonly string[]
  name: string
}

/** Records of the sample that are looked at. */
const recordsMax = 200

interface Trial {
  delimiter: string
  lineEnd: Dialect['lineEnd']
  /** Needed columns that the header has. */
  needed: number
  /** Share of the records that are as wide as the header; 0 when the header is one cell. */
  consistent: number
  width: number
}

/** The delimiter under which the header has most needed columns, then the one that makes the records equally wide. */
export function detectDelimiter(input: DelimiterInput): Pick<Dialect, 'delimiter' | 'lineEnd'> {
  const trials = input.candidates.map((delimiter) => tryDelimiter(delimiter, input))
  const [first, ...others] = trials as [Trial, ...Trial[]]
  return others.reduce((best, trial) => (isBetter(trial, best) ? trial : best), first)
}

function isBetter(trial: Trial, best: Trial): boolean {
  if (trial.needed !== best.needed) return trial.needed > best.needed
  if (trial.consistent !== best.consistent) return trial.consistent > best.consistent
  return trial.width > best.width
}

function tryDelimiter(delimiter: string, input: DelimiterInput): Trial {
  const lineEnd = detectLineEnd(delimiter, input)
  const cells = new CellReader({ delimiter, quote: input.quote })
  const [header, ...records] = splitSample(delimiter, lineEnd, input)
  const names = header === undefined ? [] : cells.readAll(header.bytes).map((name) => name.trim())
  while (names.length > 1 && names.at(-1) === '') names.pop()
  const needed = new Set(input.neededColumns.filter((column) => names.includes(column))).size
  const equal = records.filter(
    ({ bytes }) => widthOf(cells.readAll(bytes), names.length) === names.length,
  ).length
  const consistent = names.length < 2 ? 0 : records.length === 0 ? 1 : equal / records.length
  return { delimiter, lineEnd, needed, consistent, width: names.length }
}

/** Empty cells beyond the header do not count. */
function widthOf(cells: readonly string[], columns: number): number {
  let width = cells.length
  while (width > columns && cells[width - 1] === '') width -= 1
  return width
}

/** A file whose records end with a lone carriage return has no line feed outside quotes. */
function detectLineEnd(delimiter: string, input: DelimiterInput): Dialect['lineEnd'] {
  const { text } = input
  const splitter = sampleSplitter(input, { delimiter, lineEnd: '\n', records: 1 })
  for (const [first] of splitter.push(text)) {
    if (first === undefined) continue
    const end = first.offset + first.bytes.length
    return text[end] === 0x0d ? '\r\n' : '\n'
  }
  return text.includes('\r') ? '\r' : '\n'
}

function splitSample(delimiter: string, lineEnd: Dialect['lineEnd'], input: DelimiterInput): RecordSlice[] {
  const { text, complete } = input
  const splitter = sampleSplitter(input, { delimiter, lineEnd, records: recordsMax })
  for (const batch of splitter.push(text)) {
    // A single record may be the header alone, with the first record cut off by the sample's end.
    if (batch.length > 1 || !complete) return batch
    return [...batch, ...endOf(splitter)]
  }
  return complete ? endOf(splitter) : []
}

function sampleSplitter(
  { text, quote, name }: DelimiterInput,
  { records, ...line }: { delimiter: string; lineEnd: Dialect['lineEnd']; records: number },
): RecordSplitter {
  const bytes = text.length
  const batch = { records, bytes }
  return new RecordSplitter({
    ...line,
    quote,
    name,
    firstRecord: 0,
    hasCells: true,
    recordBytes: bytes,
    batch,
  })
}

/** An unclosed quote is the first pass's business. */
function endOf(splitter: RecordSplitter): RecordSlice[] {
  try {
    return [...splitter.end()].flat()
  } catch {
    return []
  }
}
