import type { Encoding, FormatConfig } from '../config/model.ts'
import { ConfigError } from '../lib/errors.ts'
import { delimiterLine } from './delimiter-line.ts'
import { detectDelimiter } from './detect-delimiter.ts'
import type { Dialect } from './model.ts'
import { parseLine } from './parse-ndjson.ts'
import { fileRefusal } from './refusal.ts'

export interface DetectionInput {
  /** The beginning of the decoded text. */
  text: Buffer
  /** The text is the whole file. */
  complete: boolean
  format: FormatConfig
  /** Columns that the mapping reads. */
  neededColumns: readonly string[]
  /** What the file is called: decides only where the content does not. */
  name: string
  compression: Dialect['compression']
  members: string | undefined
  sheet: string | undefined
  encoding: Encoding
  encodingBasis: Dialect['basis']['encoding']
}

export function detectDialect(input: DetectionInput): Dialect {
  const { text, format, encoding } = input
  const { compression, members, sheet } = input
  const container = { compression, members, sheet }
  if (text.toString('utf8').trim() === '' && input.complete) throw emptyFile(input.name)
  if (compression === 'xlsx') return sheetDialect(input)
  const type = format.type === undefined ? detectType(input) : format.type === 'ndjson' ? 'ndjson' : 'csv'
  const basis = { type: basisOf(format.type), encoding: input.encodingBasis }
  if (type === 'ndjson') {
    const unused = { delimiter: ',', quote: undefined, lineEnd: '\n' } as const
    return {
      type,
      ...container,
      encoding,
      ...unused,
      basis: { ...basis, delimiter: 'detected', quote: 'detected' },
    }
  }
  const quote = detectQuote(text, format.quote)
  const configured = configuredDelimiter(format)
  const named = configured ?? delimiterLine(firstLine(text))
  const { delimiter, lineEnd } = detectDelimiter({
    ...input,
    quote,
    candidates: named === undefined ? candidates(input.name) : [named],
  })
  const csvBasis = { ...basis, delimiter: basisOf(configured), quote: basisOf(format.quote) }
  return { type, ...container, encoding, delimiter, quote, lineEnd, basis: csvBasis }
}

/** The text was made from the rows: nothing of it is a guess. */
function sheetDialect({ compression, sheet, encoding }: DetectionInput): Dialect {
  const basis = { type: 'declared', encoding: 'declared', delimiter: 'declared', quote: 'declared' } as const
  return { type: 'csv', compression, sheet, encoding, delimiter: ',', quote: '"', lineEnd: '\n', basis }
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

/** NDJSON begins with an object on a line of its own; other known formats that are not read are named. */
function detectType({ text, complete, name }: DetectionInput): 'csv' | 'ndjson' {
  const from = text.findIndex((byte) => byte > 0x20)
  const lineEnd = text.indexOf(0x0a, from)
  const line = text.subarray(from, lineEnd < 0 ? text.length : lineEnd)
  const start = line.toString('utf8', 0, 512)
  if (line[0] === 0x7b) {
    const wholeLine = lineEnd >= 0 || complete
    if (!(parseLine(line) instanceof Error)) return 'ndjson'
    if (!wholeLine && /^\{\s*"/.test(start)) return 'ndjson'
    if (/^\{\s*("|\r?$)/.test(start) && !/\.(csv|tsv|txt)/i.test(name))
      throw unsupported(name, 'JSON over several lines')
  }
  if (/^\[\s*(\{|\r?$)/.test(start)) throw unsupported(name, 'a JSON array')
  if (/^<(\?xml|!|rss|feed|[a-z:]+[\s>])/i.test(start)) throw unsupported(name, 'XML or HTML')
  if (start.startsWith('PK\u0003\u0004')) throw unsupported(name, 'a zip archive or a spreadsheet')
  return 'csv'
}

/** Single quotes only where the header is quoted that way and double quotes do not occur. */
function detectQuote(text: Buffer, configured: FormatConfig['quote']): string | undefined {
  if (configured !== undefined) return configured === 'none' ? undefined : configured
  const from = text.findIndex((byte) => byte > 0x20)
  return text.includes('"') || text[from] !== "'".charCodeAt(0) ? '"' : "'"
}

function unsupported(name: string, found: string): Error {
  return fileRefusal({
    name,
    code: 'unsupported-format',
    found: `the content is ${found}`,
    hint: 'Export CSV, TSV or NDJSON (one JSON object on each line)',
  })
}

export function emptyFile(name: string): Error {
  return fileRefusal({
    name,
    code: 'empty-file',
    found: 'the file is empty: it has not even a header',
    hint: 'Check the export: a feed without products still has a header',
  })
}
