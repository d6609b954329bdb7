import { rm } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FeedMode } from '../../src/config/model.ts'
import type { ImportReport } from '../../src/imports/report.ts'
import { openImports } from './harness.ts'

// Runs of `files` files each, all of one format; more with WALKS=100, say.
const walks = Number(process.env.WALKS ?? 2)
const files = 12

const columns = ['id', 'parent', 'stock', 'price', 'title'] as const
type Row = Record<(typeof columns)[number], string>

interface Format {
  extension: string
  /** Lines of the feed. */
  group?: string
  price?: string
  write: (rows: readonly Row[], namespace: string) => string
}

const csv = (rows: readonly Row[]) =>
  [columns, ...rows.map((row) => columns.map((column) => `"${row[column]}"`))].join('\n')
// A line that is no JSON stands before others; nothing ends the last one.
const lines = (rows: readonly Row[]) =>
  rows.map((row) => (row.title === '' ? '{ "id": ' : JSON.stringify(row))).join('\n')
// What the prefix means stands around the elements.
const xml = (rows: readonly Row[], namespace: string) => {
  const name = (column: string) => (column === 'price' ? 'x:price' : column)
  const element = (row: Row, column: keyof Row) => `<${name(column)}>${row[column]}</${name(column)}>`
  const items = rows.map((row) => `<item>${columns.map((column) => element(row, column)).join('')}</item>`)
  return `<rss xmlns:x="${namespace}"><channel>${items.join('\n')}</channel></rss>`
}
const google = 'http://base.google.com/ns/1.0'
const formats: Readonly<Record<string, Format>> = {
  lines: { extension: 'ndjson', write: lines },
  xml: { extension: 'xml', price: 'g:price', write: xml },
  'rows of one id': { extension: 'csv', group: 'group: true', write: csv },
  'rows below their parents': { extension: 'csv', group: 'group: { parent: parent }', write: csv },
  'rows with members': {
    extension: 'csv',
    group: "group: { members: { column: parent, split: '|' } }",
    write: csv,
  },
}

const feedOf = ({ group = '', price = 'price' }: Format) => `products:
  drop: ./drop
  missing: { atMost: 80% }
  rejects: { atMost: 60% }
  ${group}
  fields:
    product_id: id
    name: title
    price: "${price}"
    availability: { column: stock, when: { y: InStock, n: OutOfStock } }
    price_currency_code: { value: EUR }
    image_url: "https://shop.example/{id}.jpg"
    url: "https://shop.example/{id}"
`

/** Few values, so that they return; now and then one is wrong. */
const often = (usual: string, ...others: string[]) => fc.constantFrom(...Array(7).fill(usual), ...others)
const ids = ['a', 'b', 'c', 'd', 'é']
const row: fc.Arbitrary<Row> = fc.record({
  id: fc.constantFrom(...ids, ...ids, ...ids, ''),
  parent: often('', 'a', 'b', 'unknown'),
  stock: often('y', 'n', 'x'),
  price: often('1', '2', 'z'),
  title: often('T', 'U', ''),
})
const step = fc.record({
  rows: fc.array(row, { minLength: 1, maxLength: 9 }),
  /** The full file before: as it was, its rows in another order, one of them changed. */
  change: fc.constantFrom('nothing', 'nothing', 'order', 'row', 'all'),
  namespace: fc.constantFrom(google, google, google, google, 'http://other.example/'),
  mode: fc.constantFrom<FeedMode>('full', 'full', 'full', 'delta'),
})

const essenceOf = ({ outcome, records, rejected, warned, changes, removals, reason }: ImportReport) => ({
  ...{ outcome, records, rejected, warned, changes, removals, reason },
})

it.each(Object.entries(formats))('what is skipped makes no difference: %s', async (_, format) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: files, maxLength: files }), async (steps) => {
      await using box = await openImports(feedOf(format))
      await using plain = await openImports(feedOf(format))
      let full: readonly Row[] = []
      for (const { rows, change, namespace, mode } of steps) {
        if (mode === 'full') full = changed(full, change, rows)
        const text = format.write(mode === 'full' ? full : rows, namespace)
        const options = { mode, name: `products.${format.extension}` }
        await rm(plain.dir.join('state/index'), { recursive: true, force: true })
        const reports = [box, plain].map((one) => one.import('products', text, options))
        const [one, other] = (await Promise.all(reports)).map(essenceOf)
        expect(one).toEqual(other)
        expect(box.products()).toEqual(plain.products())
        expect(box.unsent()).toEqual(plain.unsent())
      }
    }),
    // A walk is too long to be shortened.
    { numRuns: walks, endOnFailure: true },
  )
})

function changed(full: readonly Row[], change: string, rows: readonly Row[]): readonly Row[] {
  if (full.length === 0 || change === 'all') return rows
  if (change === 'order') return [...full.slice(1), ...full.slice(0, 1)]
  return change === 'row' ? [...rows.slice(0, 1), ...full.slice(1)] : full
}

it('XML of several batches: what is known is skipped, and a fault behind it is named where it stands', async () => {
  const format = formats.xml as Format
  await using box = await openImports(feedOf(format))
  await using plain = await openImports(feedOf(format))
  const rows = Array.from({ length: 400 }, (_, n) => {
    return { id: `p${n}`, parent: '', stock: 'y', price: '1', title: 'T' }
  })
  const importBoth = async (text: string) => {
    await rm(plain.dir.join('state/index'), { recursive: true, force: true })
    const [one, other] = await Promise.all(
      [box, plain].map((each) => each.import('products', text, { name: 'products.xml' })),
    )
    expect(essenceOf(one as ImportReport)).toEqual(essenceOf(other as ImportReport))
    expect(box.products()).toEqual(plain.products())
    return one
  }
  const sound = format.write(rows, google)
  await importBoth(sound)
  expect(await importBoth(sound)).toMatchObject({ skipped: { records: 400 } })
  const others = rows
    .filter((_, n) => n !== 150)
    .map((row, n) => (n % 100 === 7 ? { ...row, price: '2' } : row))
  expect(
    await importBoth(format.write([...others, { ...others[0], id: 'new' } as Row], google)),
  ).toMatchObject({
    skipped: { records: 395 },
    changes: { added: 1, changed: 4, missing: 1 },
  })
  await importBoth(sound)
  // In the line of the last record, behind it.
  const { outcome, reason } = (await importBoth(sound.replace('</channel>', 'a & b</channel>'))) ?? {}
  expect({ outcome, reason }).toEqual({
    outcome: 'refused',
    reason: expect.stringMatching(/line 400, column \d+: found &/),
  })
  expect(await importBoth(sound)).toMatchObject({ skipped: { records: 400 } })
})
