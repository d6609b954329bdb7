import type { Encoding, FormatConfig } from '../config/format-model.ts'
import { ConfigError } from '../lib/errors.ts'
import { delimiterLine } from './delimiter-line.ts'
import { detectDelimiter } from './detect-delimiter.ts'
import { JsonPaths } from './json-paths.ts'
import type { Dialect } from './model.ts'
import { parseLine } from './parse-ndjson.ts'
import { fileRefusal } from './read-file.ts'
import { rejectColumns } from './reject-columns.ts'
import { doctypeRefusal } from './xml-splitter.ts'
import { readToken } from './xml-token.ts'

export interface DetectionInput {
  text: Buffer
  /** The text is the whole file. */
  complete: boolean
  format: FormatConfig
  neededColumns: readonly string[]
  /** What the file is called: decides only where the content does not. */
  name: string
  compression: Dialect['compression']
  packing?: Dialect['packing']
  members?: string | undefined
  sheet?: string | undefined
  encoding: Encoding
  encodingBasis: Dialect['basis']['encoding']
}

export function detectDialect(input: DetectionInput): Dialect {
  const { text, format, encoding } = input
  const { compression, members, sheet } = input
  const container = { compression, members, sheet }
  if (text.toString('utf8').trim() === '' && input.complete) throw emptyFile(input.name)
  if (compression === 'xlsx') return sheetDialect(input)
  const type = format.type === undefined ? detectType(input) : configuredType(format.type)
  const basis = { type: basisOf(format.type), encoding: input.encodingBasis }
  if (type !== 'csv') {
    if (type === 'xml') refuseDoctype(text, input.name)
    const unused = { delimiter: ',', quote: undefined, lineEnd: '\n' } as const
    return {
      type,
      ...container,
      encoding,
      ...unused,
      ...(type === 'ndjson' ? {} : { path: format.path }),
      basis: { ...basis, delimiter: 'detected', quote: 'detected' },
    }
  }
  const quote = detectQuote(text, format.quote)
  const configured = configuredDelimiter(format)
  const named = configured ?? delimiterLine(firstLine(text))
  const { delimiter, lineEnd } = detectDelimiter({
    ...input,
    quote,
    // Names of columns would be taken for cells of the first record.
    neededColumns: format.header === undefined ? input.neededColumns : [],
    candidates: named === undefined ? candidates(input.name) : [named],
  })
  const csvBasis = { ...basis, delimiter: basisOf(configured), quote: basisOf(format.quote) }
  return { type, ...container, encoding, delimiter, quote, lineEnd, ...headerOf(input), basis: csvBasis }
}

function configuredType(type: NonNullable<FormatConfig['type']>): Dialect['type'] {
  return type === 'tsv' || type === 'xlsx' ? 'csv' : type
}

/** A file of rejected records has a header, whatever the file had that they come from. */
function headerOf({ text, format }: DetectionInput): Pick<Dialect, 'header'> {
  const start = text.toString('utf8', 0, 64).trimStart().replace(/^["']/, '')
  const isRejects = rejectColumns.some((column) => start.startsWith(column))
  return format.header === undefined || isRejects ? {} : { header: format.header }
}

/** The text was made from the rows: nothing of it is a guess. */
function sheetDialect(input: DetectionInput): Dialect {
  const { compression, packing, members, sheet, encoding } = input
  const basis = { type: 'declared', encoding: 'declared', delimiter: 'declared', quote: 'declared' } as const
  const made = { delimiter: ',', quote: '"', lineEnd: '\n' } as const
  const container = packing === undefined ? { compression, sheet } : { compression, packing, members, sheet }
  return { type: 'csv', ...container, encoding, ...made, ...headerOf(input), basis }
}

function basisOf(configured: unknown): 'configured' | 'detected' {
  return configured === undefined ? 'detected' : 'configured'
}

function firstLine(text: Buffer): Buffer {
  const end = text.findIndex((byte) => byte === 0x0a || byte === 0x0d)
  return text.subarray(0, end < 0 ? text.length : end)
}

/** Of candidates that fit equally well the first is taken. */
function candidates(name: string): readonly string[] {
  return /\.(tsv|tab)(\.\w+)?$/i.test(name) ? ['\t', ',', ';', '|'] : [',', ';', '\t', '|']
}

function configuredDelimiter({ type, delimiter }: FormatConfig): string | undefined {
  if (delimiter === undefined) return type === 'tsv' ? '\t' : undefined
  if ([...delimiter].length === 1 && !/["'\r\n]/.test(delimiter)) return delimiter
  throw new ConfigError('delimiter-invalid', `format.delimiter is ${JSON.stringify(delimiter)}`, {
    hint: 'Use one character that is no quote and no line end, for example ";" or "\\t"',
  })
}

/** Single quotes only where the header is quoted that way and double quotes do not occur. */
function detectQuote(text: Buffer, configured: FormatConfig['quote']): string | undefined {
  if (configured !== undefined) return configured === 'none' ? undefined : configured
  const from = text.findIndex((byte) => byte > 0x20)
  return text.includes('"') || text[from] !== "'".charCodeAt(0) ? '"' : "'"
}

export function emptyFile(name: string): Error {
  return fileRefusal({
    name,
    code: 'empty-file',
    found: 'the file is empty',
    hint: 'Check the export: a feed without products still has a header, or the elements around the records',
  })
}

/** By content: what a file is called says nothing reliable. */
function detectType(input: DetectionInput): Dialect['type'] {
  const { text, name } = input
  const from = text.findIndex((byte) => byte > 0x20)
  const start = text.toString('utf8', from, from + 512)
  if (start.startsWith('<')) {
    if (/^<(!doctype\s+)?html[\s>]/i.test(start)) throw htmlRefusal(name)
    if (/^<(\?xml\s|!--|!doctype|!\[|[\p{L}_:][^\s<>,;]*[\s/>])/iu.test(start)) return 'xml'
  }
  if (start.startsWith('{')) return detectObjects(input, from)
  return /^\[\s*(\{|\]|$)/.test(start) ? 'json' : 'csv'
}

/** Before anything of the file is given to a parser. */
function refuseDoctype(text: Buffer, name: string): void {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const token = readToken(text, at)
    if (token?.kind === 'doctype') {
      if (/^<!doctype\s+html/i.test(text.toString('utf8', at, at + 64))) throw htmlRefusal(name)
      throw doctypeRefusal(name, text.toString('utf8', 0, at).split(/\r\n|\r|\n/).length)
    }
    if (token === undefined || token.kind === 'start' || token.end < 0) return
    at = token.end
  }
}

function htmlRefusal(name: string): Error {
  return fileRefusal({
    name,
    code: 'unsupported-format',
    found: 'the content is a page of HTML',
    hint: 'Check where the file comes from: a page for logging in or an error may have been saved in its place',
  })
}

/** NDJSON has an object on each line; JSON one object that goes over several lines, or that holds the list of records. */
function detectObjects(
  { text, complete, neededColumns, name }: DetectionInput,
  from: number,
): Dialect['type'] {
  const lineEnd = text.indexOf(0x0a, from)
  const line = text.subarray(from, lineEnd < 0 ? text.length : lineEnd)
  const isOnlyLine = lineEnd < 0 || (complete && text.toString('utf8', lineEnd).trim() === '')
  const paths = new JsonPaths()
  paths.write(text)
  const isRecord =
    /\.(ndjson|jsonl)\b/i.test(name) || neededColumns.some((column) => hasColumn(paths.rootKeys, column))
  if (!(parseLine(line) instanceof Error)) {
    return isOnlyLine && paths.path !== undefined && !isRecord ? 'json' : 'ndjson'
  }
  // The first line is longer than what is known of the file.
  if (lineEnd < 0 && !complete && !paths.isBroken) return isRecord ? 'ndjson' : 'json'
  if (!paths.isBroken) return 'json'
  const second = /\S[^\n]*/.exec(text.toString('utf8', lineEnd))?.[0] ?? ''
  if (!(parseLine(Buffer.from(second)) instanceof Error)) return 'ndjson'
  return /^\{\s*("|\r?$)/.test(line.toString('utf8', 0, 512)) && !/\.(csv|tsv|txt)/i.test(name)
    ? 'json'
    : 'csv'
}

/** A column may be a path into an object. */
function hasColumn(keys: ReadonlySet<string>, column: string): boolean {
  return keys.has(column) || keys.has(column.split('.')[0] ?? '')
}
