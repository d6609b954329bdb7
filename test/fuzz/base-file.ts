import { gzipSync, zstdCompressSync } from 'node:zlib'
import { encode } from './encoded.ts'
import { makeWorkbook } from './make-workbook.ts'
import { makeZip } from './make-zip.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { generateRow, type ProductRow, productColumns } from './product-row.ts'
import type { Random } from './random.ts'

export const fileFormats = ['csv', 'tsv', 'ndjson', 'json', 'xml', 'xlsx', 'zip', 'gz', 'zst'] as const
export type FileFormat = (typeof fileFormats)[number]

/** A file of products as shops export them; `isMutated`: with damage, in containers inside or outside. */
export function generateFile(random: Random, format: FileFormat, isMutated: boolean): Buffer {
  const damage = (bytes: Buffer) => (isMutated ? mutateBytes(random, bytes) : bytes)
  const rows = random.list(random.between(3, 60), () => generateRow(random))
  switch (format) {
    case 'csv':
    case 'tsv':
      return damage(
        encodeText(random, csvText(random, rows, format === 'tsv' ? '\t' : random.pick([',', ';', '|']))),
      )
    case 'ndjson':
      return damage(Buffer.from(ndjsonText(random, rows)))
    case 'json':
      return damage(Buffer.from(jsonText(random, rows)))
    case 'xml':
      return damage(encodeText(random, xmlText(random, rows), 'xml'))
    case 'xlsx':
      return isMutated && random.chance(0.85)
        ? makeWorkbook(random, rows, damage)
        : damage(makeWorkbook(random, rows, (part) => part))
    default:
      return generateCompressed(random, format, { rows, isMutated })
  }
}

function generateCompressed(
  random: Random,
  format: 'zip' | 'gz' | 'zst',
  { rows, isMutated }: { rows: readonly ProductRow[]; isMutated: boolean },
): Buffer {
  const isInside = isMutated && random.chance(0.6)
  const inside = (bytes: Buffer) => (isInside ? mutateBytes(random, bytes) : bytes)
  const outside = (bytes: Buffer) => (isMutated && !isInside ? mutateBytes(random, bytes) : bytes)
  if (format !== 'zip') {
    const text = random.chance(0.5) ? csvText(random, rows, ',') : xmlText(random, rows)
    const bytes = inside(Buffer.from(text))
    return outside(format === 'gz' ? gzipSync(bytes) : zstdCompressSync(bytes))
  }
  const count = random.between(1, 3)
  const delimiter = random.pick([',', ';'])
  const end = random.pick(['\n', '\r\n', '\r'])
  const members = Array.from({ length: count }, (_, at) => {
    const own = rows.filter((__, index) => index % count === at)
    const bytes = Buffer.from(csvText(random, own, delimiter, end))
    return { name: `export/${at}.csv`, bytes: at === 0 ? inside(bytes) : bytes, deflated: random.chance(0.7) }
  })
  return outside(makeZip(members))
}

function encodeText(random: Random, text: string, type?: 'xml'): Buffer {
  const mark = random.chance(0.5)
  if (random.chance(0.7)) return encode(text, { encoding: 'utf-8', mark })
  if (random.chance(0.4)) return encode(text, { encoding: 'utf-16le', mark: true })
  const declared = type === 'xml' ? text.replace('UTF-8', 'windows-1252') : text
  return encode(declared, { encoding: 'windows-1252', mark: false })
}

function csvText(
  random: Random,
  rows: readonly ProductRow[],
  delimiter: string,
  end = random.pick(['\n', '\n', '\r\n', '\r']),
): string {
  const always = random.chance(0.3)
  const cell = (text: string) =>
    always || /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text
  const lines = rows.map((row) => {
    const content = (text: string) => (end === '\r' ? text.replaceAll('\n', ' ') : text)
    return productColumns.map((column) => cell(content(row[column]))).join(delimiter)
  })
  return [productColumns.join(delimiter), ...lines, ''].join(end)
}

/** Prices and stocks as numbers in some files. */
function objectOf(row: ProductRow, isTyped: boolean): Record<string, unknown> {
  if (!isTyped) return row
  const number = (text: string) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text)
  const categories = row.categories === '' ? null : row.categories.split('|')
  return { ...row, price: number(row.price), stock: number(row.stock), categories }
}

function ndjsonText(random: Random, rows: readonly ProductRow[]): string {
  const isTyped = random.chance(0.5)
  return rows.map((row) => `${JSON.stringify(objectOf(row, isTyped))}\n`).join('')
}

function jsonText(random: Random, rows: readonly ProductRow[]): string {
  const isTyped = random.chance(0.5)
  const products = rows.map((row) => objectOf(row, isTyped))
  const whole = random.chance(0.5)
    ? { made: 'today', count: rows.length, products }
    : { products, next: null }
  return JSON.stringify(whole, undefined, random.chance(0.5) ? 2 : 0)
}

function xmlText(random: Random, rows: readonly ProductRow[]): string {
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const content = (text: string) => (random.chance(0.2) ? `<![CDATA[${text}]]>` : escaped(text))
  const items = rows.map((row) => {
    const fields = productColumns.map((column) => `    <g:${column}>${content(row[column])}</g:${column}>`)
    const shipping = '    <g:shipping><g:country>DE</g:country><g:price>4.90 EUR</g:price></g:shipping>'
    return ['  <item>', ...fields, ...(random.chance(0.3) ? [shipping] : []), '  </item>'].join('\n')
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>',
    '  <title>Shop</title><!-- nightly -->',
    ...items,
    '</channel></rss>',
    '',
  ].join('\n')
}
