import { writeFile } from 'node:fs/promises'
import { parse, stringify } from 'yaml'
import { checkFile } from '../../src/operations/check-file.ts'
import { type FeedLine, feedText } from '../../src/operations/guess/feed-text.ts'
import { guessFeed } from '../../src/operations/guess/guess-feed.ts'
import type { Given } from '../../src/operations/guess/model.ts'
import { loadFeed } from '../presets/read-preset.ts'
import { tempDir } from '../support/temp-dir.ts'

type Columns = Readonly<Record<string, readonly string[]>>
type Product = Readonly<Record<string, unknown>>

export interface GuessedText {
  /** By field. */
  rules: Readonly<Record<string, FeedLine>>
  open: readonly string[]
  /** What the guessed feed makes of the text on 5 March 2026; undefined for records that it rejects. */
  products: readonly (Product | undefined)[]
}

/** Guesses a feed from the text of a file, and reads the file with it. */
export async function guessText(text: string, given: Partial<Given> = {}): Promise<GuessedText> {
  await using dir = await tempDir('guess')
  const file = dir.join('export')
  await writeFile(file, text)
  const signal = AbortSignal.timeout(240_000)
  const unknown = { shopUrl: undefined, currency: undefined, id: undefined }
  const { lines, open } = await guessFeed({ file, given: { ...unknown, ...given }, signal })
  const { products: feed } = parse(feedText('products', lines, 0))
  const nowMs = Date.UTC(2026, 2, 5, 12)
  const loaded = await loadFeed(stringify(feed, { blockQuote: false }))
  const { products, rejected } = await readProducts({ feed: loaded, file, nowMs, signal })
  const all: { record: number; product?: Product }[] = [...products, ...rejected]
  return {
    rules: Object.fromEntries(lines.map((line) => [line.key.replace('fields.', ''), line])),
    open,
    products: all.sort((one, other) => one.record - other.record).map(({ product }) => product),
  }
}

/** What a feed makes of a file: its products as they would be sent, in the order in which they come. */
export async function readProducts(options: Parameters<typeof checkFile>[0]) {
  const products: { record: number; product: Product }[] = []
  const rejected: { record: number }[] = []
  const check = await checkFile({
    ...options,
    onProducts: (batch) => {
      for (const { item, record } of batch.items) {
        const sent = JSON.stringify({ ...item.set, product_id: item.productId })
        products.push({ record: record.record, product: JSON.parse(sent) })
      }
      rejected.push(...batch.rejected)
    },
  })
  return { check, products, rejected }
}

/** The text of a table with what every product needs, besides the columns given. */
export function tableOf(columns: Columns, rows = Object.values(columns)[0]?.length ?? 0): string {
  const all = { ...plainColumns(rows), ...columns }
  const lines = Array.from({ length: rows }, (_, row) =>
    Object.values(all).map((cells) => quoted(cells[row] ?? '')),
  )
  return [Object.keys(all).map(quoted), ...lines].map((cells) => `${cells.join(';')}\n`).join('')
}

function plainColumns(rows: number): Columns {
  const each = (make: (row: number) => string) => Array.from({ length: rows }, (_, row) => make(row))
  return {
    sku: each((row) => `A${row}`),
    name: each((row) => `Cup of colour ${row}`),
    url: each((row) => `https://c.example/${row}`),
    image: each((row) => `https://c.example/${row}.jpg`),
    price: each((row) => `${20 + row}.00`),
  }
}

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`
}
