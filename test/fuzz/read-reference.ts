import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Dialect } from '../../src/records/model.ts'
import { readCsvWhole } from './csv-kind.ts'
import { decodeWhole } from './encoded.ts'
import { recordsAt, recordsOfLines, rejectedRecord } from './json-kind.ts'
import { productColumns } from './product-row.ts'
import { readArchive } from './read-archive.ts'
import { readWorkbook } from './read-workbook.ts'
import { readXmlWhole } from './read-xml-whole.ts'

/** What other parsers read of one record: its values by column; undefined: there is no such record. */
export interface ReferenceRecord {
  /** Undefined where the record has no such column, or could not be read at all. */
  values: Readonly<Record<string, unknown>>
  isRejected: boolean
}

/** The records of a file under the dialect that was found; undefined where it is refused whole. */
export async function readReference(bytes: Buffer, dialect: Dialect): Promise<ReferenceRecord[] | undefined> {
  if (dialect.compression === 'xlsx') {
    const members = await readArchive(bytes, (name) => name !== '[Content_Types].xml')
    const rows = members && readWorkbook(members)
    return rows && fromRows(rows)
  }
  const texts = await textsOf(bytes, dialect)
  if (texts === undefined) return undefined
  const all: ReferenceRecord[] = []
  for (const text of texts) {
    const records = readText(decodeWhole(text, markOf(text) ?? dialect.encoding), dialect)
    if (records === undefined) return undefined
    all.push(...records)
  }
  return all
}

async function textsOf(bytes: Buffer, { compression }: Dialect): Promise<Buffer[] | undefined> {
  try {
    if (compression === 'gzip') return [gunzipSync(bytes)]
    if (compression === 'zstd') return [zstdDecompressSync(bytes)]
  } catch {
    return undefined
  }
  if (compression !== 'zip') return [bytes]
  const members = await readArchive(bytes)
  const isVisible = (name: string) => !/(^|\/)(\.|__MACOSX\/|Thumbs\.db$)/i.test(name)
  const names = [...(members?.keys() ?? [])].filter(isVisible).sort((one, other) => (one < other ? -1 : 1))
  return members && names.map((name) => members.get(name) as Buffer)
}

function markOf(text: Buffer): 'utf-8' | 'utf-16le' | undefined {
  if (text.subarray(0, 3).equals(Buffer.of(0xef, 0xbb, 0xbf))) return 'utf-8'
  const isUtf16 = text.subarray(0, 2).equals(Buffer.of(0xff, 0xfe)) && text.readUInt16LE(2) !== 0
  return isUtf16 ? 'utf-16le' : undefined
}

function readText(text: string, dialect: Dialect): ReferenceRecord[] | undefined {
  const { type, path = '' } = dialect
  if (type === 'csv') {
    const rows = readCsvWhole(Buffer.from(text), dialect)
    return rows && fromRows(rows)
  }
  const records =
    type === 'xml' ? readXmlWhole(text, path) : type === 'json' ? recordsAt(text, path) : recordsOfLines(text)
  return records?.map(fromObject)
}

function fromRows([header = [], ...rows]: readonly (readonly string[])[]): ReferenceRecord[] | undefined {
  const columns = header.map((name) => name.trim())
  while (columns.length > 1 && columns.at(-1) === '') columns.pop()
  if (productColumns.some((column) => !columns.includes(column))) return undefined
  return rows.map((row) => {
    let width = row.length
    while (width > columns.length && row[width - 1] === '') width -= 1
    const values = Object.fromEntries(productColumns.map((column) => [column, row[columns.indexOf(column)]]))
    return { values, isRejected: width !== columns.length || isDamaged(row) }
  })
}

function fromObject(record: unknown): ReferenceRecord {
  if (record === rejectedRecord) return { values: {}, isRejected: true }
  const object = record as Record<string, unknown>
  const values = Object.fromEntries(
    productColumns.map((column) => [
      column,
      Object.hasOwn(object, column) ? object[column] : object[`g:${column}`],
    ]),
  )
  return { values, isRejected: isDamaged(object) }
}

/** Bytes without a meaning reject the record that they stand in. */
function isDamaged(record: unknown): boolean {
  return JSON.stringify(record).includes('\ufffd')
}
