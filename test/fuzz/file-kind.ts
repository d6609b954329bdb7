import { unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { FormatConfig } from '../../src/config/format-model.ts'
import { FileRefusedError } from '../../src/lib/errors.ts'
import { judgeFile } from '../../src/records/judge.ts'
import { readRecords } from '../../src/records/read-records.ts'
import { firstDifference } from './chunks.ts'
import { generateRows, readCsvWhole, withColumns } from './csv-kind.ts'
import { decodeWhole, type Encoded, encode, generateEncoded } from './encoded.ts'
import { generateJson } from './generate-json.ts'
import { generateXml } from './generate-xml.ts'
import { isRepeatedKey, recordsAt, recordsOfLines, rejectedRecord } from './json-kind.ts'
import type { Kind, Outcome } from './kind.ts'
import { makeZip } from './make-zip.ts'
import type { Random } from './random.ts'
import { readXmlWhole } from './read-xml-whole.ts'

type Container = 'none' | 'gzip' | 'gzip in parts' | 'zstd' | 'zstd in frames' | 'zip'

interface FileSettings {
  type: 'csv' | 'ndjson' | 'json' | 'xml'
  delimiter: string
  quote: '"' | "'" | undefined
  lineEnd: '\n' | '\r\n' | '\r'
  path: string
  container: Container
  encoded: Encoded
  /** Of a zip archive: deflated. Of gzip in parts: padded with zeros. */
  isDeflated: boolean
}

/** Where one text ends and the next begins, as a part of its own. */
const nextMember = '\ue000'

/** Whole files, compressed and encoded, through both passes as an import makes them. */
export const fileKind: Kind<FileSettings> = {
  name: 'files',
  weight: 1.5,
  generate: (random) => {
    const type = random.pick(['csv', 'csv', 'ndjson', 'json', 'xml'] as const)
    const container = random.pick([
      'none',
      'gzip',
      'gzip in parts',
      'zstd',
      'zstd in frames',
      'zip',
      'zip',
    ] as const)
    const syntax = {
      delimiter: random.pick([',', ';', '\t', '|']),
      quote: random.pick(['"', '"', "'", undefined] as const),
      lineEnd: random.pick(['\n', '\n', '\r\n', '\r'] as const),
    }
    const members = container === 'zip' ? random.between(1, 3) : 1
    const path = type === 'json' ? random.pick(['', 'a', 'a.b']) : ''
    const texts = random.list(members, () => generateText(random, type, { ...syntax, path }))
    const parts = texts.flatMap(({ parts: own }, at) => (at === 0 ? own : [nextMember, ...own]))
    const encoded = random.chance(0.5)
      ? generateEncoded(random)
      : { encoding: 'utf-8' as const, mark: random.chance(0.3) }
    return {
      parts,
      settings: {
        type,
        ...syntax,
        path: texts[0]?.path ?? '',
        container,
        encoded,
        isDeflated: random.chance(0.5),
      },
    }
  },
  run: ({ parts, settings }) => compareFile(parts.join('').split(nextMember), settings),
}

function generateText(
  random: Random,
  type: FileSettings['type'],
  syntax: Pick<FileSettings, 'delimiter' | 'quote' | 'lineEnd' | 'path'>,
): { parts: string[]; path: string } {
  if (type === 'xml') return generateXml(random)
  if (type === 'json') return { parts: generateJson.document(random, syntax.path), path: syntax.path }
  if (type === 'ndjson') return { parts: generateJson.lines(random), path: '' }
  const header = `a${syntax.delimiter}b${syntax.delimiter}c${syntax.lineEnd}`
  return { parts: [header, ...generateRows(random, { ...syntax, columns: 3 })], path: '' }
}

async function compareFile(texts: readonly string[], settings: FileSettings): Promise<Outcome> {
  const { encoding, mark } = settings.encoded
  const encodedTexts = texts.map((text) => encode(text, { encoding, mark }))
  const whole = encodedTexts.map((bytes) => decodeWhole(bytes, encoding))
  const found = await readFile(contain(encodedTexts, settings), settings)
  if ('code' in found) {
    const isExpected = whole.some((text) => recordsOf(text, settings) === undefined)
    return isExpected || mayRefuse(found.code, whole, settings)
      ? 'refused'
      : { difference: `refused: ${found.code}` }
  }
  const expected = whole.map((text) => recordsOf(text, { ...settings, lineEnd: found.lineEnd }))
  if (expected.some((records) => records === undefined))
    return { difference: 'read, but the other parser refuses it' }
  const difference = firstDifference(found.records, (expected as unknown[][]).flat(), isDeepStrictEqual)
  return difference === undefined ? 'read' : { difference }
}

/** Undefined where the text is refused. */
function recordsOf(text: string, settings: FileSettings): unknown[] | undefined {
  if (settings.type === 'xml') return readXmlWhole(text, settings.path)?.map(withoutDamaged)
  if (settings.type === 'json') return recordsAt(text, settings.path)?.map(withoutDamaged)
  if (settings.type === 'ndjson') return recordsOfLines(text).map(withoutDamaged)
  const [header, ...rows] = rowsOf(text, settings) ?? []
  if (header === undefined) return undefined
  const width = columnsOf(header).length
  return rows.map((row) => {
    const cells = withColumns(row, width)
    return isDamaged(row) && cells[0] !== 'rejected' ? ['rejected', ...cells] : cells
  })
}

/** Records with bytes that mean nothing are rejected. */
function withoutDamaged(record: unknown): unknown {
  return isDamaged(record) ? rejectedRecord : record
}

function isDamaged(record: unknown): boolean {
  return JSON.stringify(record).includes('\ufffd')
}

function rowsOf(text: string, settings: FileSettings): string[][] | undefined {
  return readCsvWhole(Buffer.from(text), settings)
}

/** Empty names at the end come from further delimiters. */
function columnsOf(header: readonly string[]): string[] {
  const columns = header.map((name) => name.trim())
  while (columns.length > 1 && columns.at(-1) === '') columns.pop()
  return columns
}

const lineEnds = ['\n', '\r\n', '\r'] as const

/** What only a reader of feeds finds wrong with a text. Which line end it saw is not known then. */
function mayRefuse(code: string, texts: readonly string[], settings: FileSettings): boolean {
  const { type, path } = settings
  const headersWith = (lineEnd: FileSettings['lineEnd']) =>
    texts.map((text) => columnsOf(rowsOf(text, { ...settings, lineEnd })?.[0] ?? []).join('\n'))
  switch (code) {
    case 'empty-file':
      return (
        texts.some((text) => text.trim() === '') ||
        (type === 'csv' && lineEnds.some((end) => headersWith(end).includes('')))
      )
    case 'truncated':
      // A record that ends with the file was cut off when it is short or no JSON.
      return texts.some((text) => !text.endsWith('\n'))
    case 'path-not-found':
      return type === 'xml'
    case 'ambiguous-path':
      return texts.some((text) => isRepeatedKey(text, path))
    default:
      return code === 'headers-differ' && lineEnds.some((end) => new Set(headersWith(end)).size > 1)
  }
}

function contain(texts: readonly Buffer[], { container, isDeflated }: FileSettings): Buffer {
  const [text = Buffer.alloc(0)] = texts
  const middle = Math.floor(text.length / 3)
  const halves = [text.subarray(0, middle), text.subarray(middle)]
  switch (container) {
    case 'none':
      return text
    case 'gzip':
      return gzipSync(text)
    case 'gzip in parts':
      return Buffer.concat([...halves.map((half) => gzipSync(half)), Buffer.alloc(isDeflated ? 512 : 0)])
    case 'zstd':
      return zstdCompressSync(text)
    case 'zstd in frames':
      return Buffer.concat(halves.map((half) => zstdCompressSync(half)))
    case 'zip':
      return makeZip(texts.map((bytes, at) => ({ name: `${at}.txt`, bytes, deflated: isDeflated })))
  }
}

type Found = { records: readonly unknown[]; lineEnd: FileSettings['lineEnd'] } | { code: string }

/** The records, or the code with which the file is refused. */
async function readFile(bytes: Buffer, settings: FileSettings): Promise<Found> {
  const path = join(tmpdir(), `catalogd-fuzz-${process.pid}.feed`)
  writeFileSync(path, bytes)
  const { type, delimiter, quote, encoded } = settings
  const format: FormatConfig = {
    type,
    delimiter,
    quote: quote ?? 'none',
    encoding: encoded.encoding,
    path: settings.path,
    recordBytes: 1_000_000,
  }
  const source = { path, bytes: bytes.length, name: 'fuzz.feed' }
  try {
    const judgement = await judgeFile({ ...source, format, neededColumns: [], openIdReader: () => undefined })
    const records: { record: number; found: unknown }[] = []
    for await (const batch of readRecords({ ...source, ...judgement, recordBytes: 1_000_000 })) {
      for (const { record, source: object, cells } of batch.records)
        records.push({ record, found: type === 'csv' ? cells : object })
      for (const { record, cells } of batch.rejected)
        records.push({ record, found: type === 'csv' ? ['rejected', ...cells] : rejectedRecord })
    }
    if (records.length !== judgement.records)
      throw new Error(`${judgement.records} records judged, ${records.length} read`)
    records.sort((one, other) => one.record - other.record)
    return { records: records.map(({ found }) => found), lineEnd: judgement.dialect.lineEnd }
  } catch (error) {
    if (error instanceof FileRefusedError) return { code: error.code }
    throw error
  } finally {
    unlinkSync(path)
  }
}
