import { gzipSync } from 'node:zlib'
import type { Said, Value } from './week-model.ts'

/** How the records of a week become bytes, each kind of file as its exporter would write it. */

type Cells = Readonly<Record<string, string | undefined>>

/** The catalogue's columns; the names of Google Merchant Center, in tables without their prefix. */
function catalogueCells({ id, fields, isBad }: Said): Cells {
  const word = fields.availability === 'InStock' ? 'in stock' : 'out of stock'
  return {
    id,
    title: textOf(fields.name),
    description: textOf(fields.description),
    link: textOf(fields.url),
    image_link: textOf(fields.image_url),
    brand: textOf(fields.brand),
    gtin: textOf(fields.variation_id),
    price: isBad ? 'on request' : `${Number(fields.price).toFixed(2)} EUR`,
    availability: word,
    quantity: textOf(fields.inventory_level),
  }
}

const catalogueColumns = [
  ...[
    'id',
    'title',
    'description',
    'link',
    'image_link',
    'brand',
    'gtin',
    'price',
    'availability',
    'quantity',
  ],
]

export function catalogueCsv(said: readonly Said[]): string {
  const rows = said.map((one) => {
    const cells = catalogueCells(one)
    return catalogueColumns.map((column) => quoted(cells[column] ?? '')).join(',')
  })
  return `${[catalogueColumns.join(','), ...rows].join('\r\n')}\r\n`
}

export function catalogueXml(said: readonly Said[]): string {
  const items = said.map((one) => {
    const cells = Object.entries(catalogueCells(one))
    return `    <item>\n${cells.map(([name, cell]) => `      <g:${name}>${escaped(cell ?? '')}</g:${name}>\n`).join('')}    </item>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0">
  <channel>
    <title>Nightly export</title>
${items.join('')}  </channel>
</rss>
`
}

export function stockCsv(said: readonly Said[]): string {
  const rows = said.map(({ id, fields, isBad }) => `${id},${isBad ? 'some' : fields.inventory_level}`)
  return `sku,qty\n${rows.map((row) => `${row}\n`).join('')}`
}

export function stockNdjson(said: readonly Said[]): string {
  const lines = said.map(({ id, fields, isBad }) => ({
    sku: id,
    qty: isBad ? 'some' : fields.inventory_level,
  }))
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

interface Priced {
  said: readonly Said[]
  eanOf: (id: string) => string
  /** Which the first record tells. */
  stand: string
}

/** German, in windows-1252; products are named by their EAN. */
export function pricesCsv({ said, eanOf, stand }: Priced): Buffer {
  const rows = said.map(({ id, fields, isBad }) =>
    [eanOf(id), isBad ? 'auf Anfrage' : german(fields.price), german(fields.list_price), stand].join(';'),
  )
  const text = `${['EAN;Preis (€);früher;Stand', ...rows].join('\n')}\n`
  // Of what is written here only the sign of the euro lies elsewhere than in ISO 8859-1.
  return Buffer.from(text.replaceAll('€', '\x80'), 'latin1')
}

export function gzipped(content: string | Buffer): Buffer {
  return gzipSync(content)
}

/** 1.234,50 */
function german(value: Value | null | undefined): string {
  if (typeof value !== 'number') return ''
  const [whole = '', cents] = value.toFixed(2).split('.')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, '.')},${cents}`
}

function textOf(value: Value | null | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value)
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
