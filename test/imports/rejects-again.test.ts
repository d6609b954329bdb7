import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { workbookOf } from '../records/workbook.ts'
import { zipOf } from '../records/zip-file.ts'
import { openImports } from './harness.ts'

// Every kind of file: the one wrong record comes back in a file of rejects, is corrected there and dropped again.

type Row = Readonly<Record<string, string>>

interface Kind {
  name: string
  /** Of the feed, in YAML. */
  format?: string
  /** Of the file of rejects. */
  encoding?: string
  /** A name that the encoding can hold. */
  product?: string
  make(rows: readonly Row[]): Buffer | Promise<Buffer>
}

const wrong = 'on request'

function rowOf(id: string, name: string, price: string): Row {
  const url = `https://shop.example/${id}`
  const fixed = { url, image_url: `${url}.jpg`, availability: 'InStock', price_currency_code: 'EUR' }
  return { product_id: id, name, ...fixed, description: 'a; "quoted", text', price }
}

function csv(rows: readonly Row[], { quote = '"', header = true, delimiter = ',' } = {}): string {
  const cell = (text: string) => {
    return quote === ''
      ? text.replaceAll(delimiter, ' ')
      : quote + text.replaceAll(quote, quote + quote) + quote
  }
  const lines = rows.map((row) => Object.values(row))
  const all = header ? [Object.keys(rows[0] ?? {}), ...lines] : lines
  return all.map((cells) => `${cells.map(cell).join(delimiter)}\r\n`).join('')
}

function xml(rows: readonly Row[]): string {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const items = rows.map((row) =>
    Object.entries(row)
      .map(([key, text]) => `<${key}>${escaped(text)}</${key}>`)
      .join(''),
  )
  return `<?xml version="1.0"?>\n<shop xmlns:g="http://base.google.com/ns/1.0"><list>${items.map((item) => `<product>${item}</product>\n`).join('')}</list></shop>`
}

function sheet(rows: readonly Row[]): Promise<Buffer> {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
  const cells = (line: readonly string[]) =>
    line.map((text) => `<c t="inlineStr"><is><t>${escaped(text)}</t></is></c>`).join('')
  return workbookOf({ rows: lines.map((line) => `<row>${cells(line)}</row>`).join('') })
}

const encoded = (
  encoding: string,
  product: string,
  options: { addBOM?: boolean; configured?: boolean } = {},
) => ({
  name: `${encoding.replaceAll('-', '')}${options.addBOM ? 'marked' : ''}.csv`,
  ...(options.configured ? { format: `{ encoding: ${encoding} }` } : {}),
  encoding,
  product,
  make: (rows: readonly Row[]) => iconv.encode(csv(rows, { delimiter: ';' }), encoding, options),
})

const kinds: readonly Kind[] = [
  encoded('utf-8', 'Käse €'),
  encoded('utf-8', 'Käse €', { addBOM: true }),
  encoded('utf-16le', 'Käse 漢', { addBOM: true }),
  encoded('utf-16be', 'Käse 漢', { addBOM: true }),
  encoded('windows-1252', 'Käse €', { configured: true }),
  encoded('windows-1250', 'Żółw', { configured: true }),
  encoded('koi8-r', 'Сыр', { configured: true }),
  encoded('shift_jis', '表示ソ', { configured: true }),
  encoded('gb18030', '漢字', { configured: true }),
  { name: 'singles.csv', make: (rows) => Buffer.from(csv(rows, { quote: "'" }).replaceAll('"', '')) },
  {
    name: 'bare.tsv',
    format: '{ type: tsv, quote: none }',
    make: (rows) => Buffer.from(csv(rows, { quote: '', delimiter: '\t' })),
  },
  {
    name: 'headless.csv',
    format: `{ header: [${Object.keys(rowOf('', '', '')).join(', ')}] }`,
    make: (rows) => Buffer.from(csv(rows, { header: false })),
  },
  { name: 'packed.csv.gz', make: (rows) => gzipSync(csv(rows)) },
  {
    name: 'packed.csv.zip',
    make: (rows) => zipOf({ 'a.csv': csv(rows.slice(0, 1)), 'b.csv': csv(rows.slice(1)) }),
  },
  { name: 'elements.zip', make: (rows) => zipOf({ 'a.xml': xml(rows) }) },
  { name: 'elements.xml', make: (rows) => Buffer.from(xml(rows)) },
  {
    name: 'lines.ndjson',
    make: (rows) => Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
  },
  { name: 'array.json', make: (rows) => Buffer.from(JSON.stringify(rows)) },
  {
    name: 'path.json',
    format: '{ path: data.products }',
    make: (rows) => Buffer.from(JSON.stringify({ data: { products: rows } }, undefined, 2)),
  },
  { name: 'sheet.xlsx', make: sheet },
]

const feedOf = ({ name }: Kind) => `f-${name.replaceAll('.', '-')}`
let box: Awaited<ReturnType<typeof openImports>>
beforeAll(async () => {
  const feeds = kinds.map((kind) => {
    const format = kind.format === undefined ? '' : `, format: ${kind.format}`
    return `${feedOf(kind)}: { drop: ./${feedOf(kind)}, rejects: { atMost: 50% }, missing: { atMost: 100% }${format} }`
  })
  box = await openImports(feeds.join('\n'))
})
afterAll(() => box?.[Symbol.asyncDispose]())

it.each(kinds.map((kind) => [kind.name, kind] as const))('%s', async (name, kind) => {
  const feed = feedOf(kind)
  const { product = 'Käse', encoding = 'utf-8' } = kind
  const rows = (price: string) => [
    rowOf(`${feed}-1`, product, '10'),
    rowOf(`${feed}-2`, product, price),
    rowOf(`${feed}-3`, product, '30'),
  ]
  expect((await box.import(feed, await kind.make(rows('20')), { name })).rejected).toBe(0)

  const report = await box.import(feed, await kind.make(rows(wrong)), { name })
  expect(report).toMatchObject({ records: 3, rejected: 1, issues: { 'not-a-number': 1 } })
  expect(report.problems[0]?.examples).toMatchObject([{ field: 'price', value: wrong }])

  const file = report.rejectsFile ?? ''
  const text = iconv.decode(await readFile(file), encoding, { stripBOM: false })
  expect(text).toContain('give digits only')
  const corrected = iconv.encode(text.replaceAll(wrong, '21'), encoding)
  const again = await box.import(feed, corrected, { name: basename(file) })
  expect(again).toMatchObject({ outcome: 'imported', records: 1, rejected: 0, warned: 0 })
  expect(again.removals).toBeUndefined()
  expect(await box.document(`${feed}-2`)).toMatchObject({ name: product, price: 21, availability: 'InStock' })
  for (const id of ['1', '3'])
    expect(await box.document(`${feed}-${id}`)).toMatchObject({ availability: 'InStock' })
})
