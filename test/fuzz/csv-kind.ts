import { parse } from 'csv-parse/sync'
import type { Dialect, RecordSlice } from '../../src/records/model.ts'
import { parseCsv } from '../../src/records/parse-csv.ts'
import { openSplitter } from '../../src/records/slices.ts'
import { decodeCut, firstDifference, generateCuts, splitCut } from './chunks.ts'
import { decodeWhole, type Encoded, encode, generateEncoded } from './encoded.ts'
import type { Kind } from './kind.ts'
import type { Random } from './random.ts'

type CsvSyntax = Pick<Dialect, 'delimiter' | 'quote' | 'lineEnd'>

interface CsvSettings extends CsvSyntax {
  header: boolean
  columns: number
  cuts: readonly number[]
  encoded: Encoded | undefined
}

/** Records and cells of all CSV dialects against csv-parse over the whole text. */
export const csvKind: Kind<CsvSettings> = {
  name: 'csv',
  weight: 45,
  generate: (random) => {
    const settings: CsvSettings = {
      delimiter: random.pick([',', ',', ';', ';', '\t', '|', '§', '💶', ' ', '^']),
      quote: random.pick(['"', '"', '"', "'", undefined]),
      lineEnd: random.pick(['\n', '\n', '\r\n', '\r']),
      header: random.chance(0.5),
      columns: random.between(1, 5),
      cuts: generateCuts(random),
      encoded: random.chance(0.2) ? generateEncoded(random) : undefined,
    }
    const parts = random.chance(0.5) ? generateTokens(random, settings) : generateRows(random, settings)
    if (random.chance(0.02)) parts.unshift(`sep=${settings.delimiter}${settings.lineEnd}`)
    return { parts, settings }
  },
  run: ({ parts, settings }) => {
    const written = Buffer.from(parts.join(''))
    const { encoded, cuts } = settings
    if (encoded === undefined) return compare(written, written, settings)
    const bytes = encode(written.toString('utf8'), encoded)
    const expected = Buffer.from(decodeWhole(bytes, encoded.encoding))
    return decodeCut(bytes, { encoding: encoded.encoding, cuts }).then((text) =>
      compare(text, expected, settings),
    )
  },
}

function compare(text: Buffer, expectedText: Buffer, settings: CsvSettings) {
  const { delimiter, quote, lineEnd, header, cuts } = settings
  const basis = {
    type: 'configured',
    encoding: 'configured',
    delimiter: 'configured',
    quote: 'configured',
  } as const
  const dialect: Dialect = {
    type: 'csv',
    compression: 'none',
    encoding: 'utf-8',
    delimiter,
    quote,
    lineEnd,
    header: header ? undefined : 'none',
    basis,
  }
  // The header is a record like any other here; only a line `sep=` before the first one is none.
  const columns = Array.from({ length: settings.columns }, (_, index) => `c${index}`)
  const splitter = openSplitter('fuzz.csv', dialect, { recordBytes: 1_000_000, before: 0 })
  const found: unknown[] = []
  const code = splitCut(splitter, { text, cuts }, (batch: readonly RecordSlice[]) => {
    for (const result of parseCsv(batch, dialect, columns)) {
      found.push('parsed' in result ? result.parsed.cells : ['rejected', ...result.rejected.cells])
    }
  })
  const rows = readCsvWhole(expectedText, settings)
  if (rows === undefined || code !== undefined) {
    if (rows === undefined && code === 'truncated') return 'refused'
    return { difference: code === undefined ? 'read, but csv-parse refuses it' : `refused: ${code}` }
  }
  const expected = rows.map((row) => withColumns(row, columns.length))
  const difference = firstDifference(found, expected, sameCells)
  return difference === undefined ? 'read' : { difference }
}

/** Undefined where a quote is never closed. */
export function readCsvWhole(text: Buffer, syntax: CsvSyntax): string[][] | undefined {
  const { delimiter, quote, lineEnd } = syntax
  const options = {
    delimiter,
    quote: quote ?? null,
    escape: quote ?? null,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    record_delimiter: lineEnd === '\r' ? ['\r\n', '\n', '\r'] : ['\r\n', '\n'],
  }
  try {
    return parse(withoutSeparatorLine(text, lineEnd), options)
  } catch (error) {
    if ((error as { code?: string }).code === 'CSV_QUOTE_NOT_CLOSED') return undefined
    throw error
  }
}

/** Excel reads a first line `sep=;` and exports made for it begin with one. */
function withoutSeparatorLine(text: Buffer, lineEnd: CsvSyntax['lineEnd']): Buffer {
  const lines = lineEnd === '\r' ? /^sep=[^\r\n"'](\r\n|\n|\r)/iu : /^sep=[^\r\n"']\r?\n/iu
  const line = lines.exec(text.toString('utf8', 0, 20))?.[0] ?? ''
  return text.subarray(Buffer.byteLength(line))
}

export function withColumns(row: string[], columns: number): string[] {
  let length = row.length
  while (length > columns && row[length - 1] === '') length -= 1
  const cells = row.slice(0, length)
  return length === columns ? cells : ['rejected', ...cells]
}

function sameCells(one: unknown, other: unknown): boolean {
  const [cells, others] = [one as unknown[], other as unknown[]]
  return cells.length === others.length && cells.every((cell, index) => cell === others[index])
}

const tokens = 'q q q d d n n r rn qd dq qq qrn qn nq qqq'.split(' ')
const texts = [
  ...['a', 'b', '7', ' ', 'é', 'ß', '€', '価格', '💶', '\0', '\u00a0', '\ufeff', '\u2028', '\u0085', '\v'],
  ...['"', "'", ',', ';', '\t', '§', '\\', '=', '\\"', '-'],
]

/** Text made of what matters to a parser. */
function generateTokens(random: Random, settings: CsvSettings): string[] {
  const most = random.chance(0.1) ? 120 : 25
  return random.list(random.between(0, most), () =>
    random.chance(0.6) ? spell(random.pick(tokens), settings) : random.pick(texts),
  )
}

function spell(token: string, { delimiter, quote }: CsvSettings): string {
  const letters: Record<string, string> = { q: quote ?? '"', d: delimiter, n: '\n', r: '\r' }
  return [...token].map((letter) => letters[letter] ?? '').join('')
}

/** Rows as exporters write them, with what goes wrong there. */
export function generateRows(
  random: Random,
  { delimiter, quote, lineEnd, columns }: Pick<CsvSettings, 'delimiter' | 'quote' | 'lineEnd' | 'columns'>,
): string[] {
  const parts: string[] = []
  for (let row = random.between(0, 6); row > 0; row--) {
    const width = random.chance(0.9) ? columns : random.between(0, 7)
    for (let column = 0; column < width; column++) {
      if (column > 0) parts.push(delimiter)
      parts.push(cellOf(random, quote))
    }
    if (random.chance(0.05)) parts.push(delimiter)
    if (random.chance(0.03)) parts.push(random.pick(['\n', '\r\n', '\r', ' \n', '\n\n']))
    if (row > 1 || random.chance(0.7)) parts.push(random.chance(0.95) ? lineEnd : '\n')
  }
  return parts
}

const contents = [
  '',
  '',
  'A1',
  '12,50',
  'Größe 42',
  'a;b',
  'it"s',
  "it's",
  '5" nail',
  'two\nlines',
  'one\r\ntwo',
]

function cellOf(random: Random, quote: string | undefined): string {
  const content = random.chance(0.9) ? random.pick(contents) : random.pick(texts)
  if (quote === undefined) return content.replace(/[\r\n]/g, ' ')
  const [open, close] = [random.chance(0.98) ? quote : '', random.chance(0.98) ? quote : '']
  if (random.chance(0.4)) return open + content.replaceAll(quote, quote + quote) + close
  return content
}
