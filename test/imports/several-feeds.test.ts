import fc from 'fast-check'
import { expect, test } from 'vitest'
import { catalogFrom, feed, openImports, row } from './harness.ts'

const withStock = `products: { drop: ./products }
stock:
  drop: ./stock
  mode: delta
  fields: { product_id: sku, inventory_level: qty, availability: { column: qty, when: { "0": OutOfStock }, otherwise: InStock } }
  owns: [inventory_level, availability]`

test('the owner of a field writes it, whoever comes last; without it others count', async () => {
  await using box = await openImports(withStock)
  await box.import('products', feed(row('a', { stock: 'InStock' }), row('b')))
  await box.import('stock', 'sku,qty\na,0\n', { mode: 'delta' })
  expect(await box.document('a')).toMatchObject({ availability: 'OutOfStock', inventory_level: 0 })
  await box.import('products', feed(row('a', { stock: 'InStock', price: '9' }), row('b')))
  expect(await box.document('a')).toMatchObject({ availability: 'OutOfStock', price: 9 })
  expect(await box.document('b')).toMatchObject({ availability: 'InStock' })
})

test('a product is incomplete until other feeds complete it, and is sent then', async () => {
  await using box = await openImports(withStock)
  const report = await box.import('stock', 'sku,qty\na,5\n', { mode: 'delta' })
  expect(report).toMatchObject({ outcome: 'imported', changes: { incomplete: 1, added: 0 } })
  expect(await box.document('a')).toBeUndefined()
  expect(await box.lane('a')).toBeUndefined()
  expect(box.mirror.incomplete(5)).toMatchObject([
    { productId: 'a', missing: expect.stringContaining('name') },
  ])
  await box.import('products', feed(row('a', { stock: 'OutOfStock' })))
  expect(await box.document('a')).toMatchObject({ inventory_level: 5, availability: 'InStock' })
  expect(await box.lane('a')).toBe('new')
  expect(box.mirror.count().incomplete).toBe(0)
})

test('a missing mark overrides availability, whoever owns it, until the product returns', async () => {
  await using box = await openImports(
    `${withStock.replace('./products }', './products, missing: { atMost: 100% } }')}`,
  )
  await box.import('products', feed(row('a'), row('b')))
  await box.import('stock', 'sku,qty\na,5\nb,5\n', { mode: 'delta' })
  await box.import('products', feed(row('a')))
  expect(await box.document('b')).toMatchObject({ availability: 'OutOfStock', inventory_level: 5 })
  await box.import('stock', 'sku,qty\nb,7\n', { mode: 'delta' })
  expect(await box.document('b')).toMatchObject({ availability: 'OutOfStock', inventory_level: 7 })
  await box.import('products', feed(row('a'), row('b')))
  expect(await box.document('b')).toMatchObject({ availability: 'InStock', inventory_level: 7 })
})

test('an empty cell clears in a full file, says nothing in a delta, and never clears a required field', async () => {
  await using box = await openImports(
    'products: { drop: ./drop, files: { full: "*_full.csv", delta: "*_delta.csv" } }',
  )
  await box.import('products', feed(row('a', { text: 'first' })))
  await box.import('products', feed(row('a', { text: '', price: '' })), { mode: 'delta' })
  expect(await box.document('a')).toMatchObject({ description: 'first', price: 10 })
  const report = await box.import('products', feed(row('a', { text: '', name: '' })))
  expect(report).toMatchObject({ rejected: 1 })
  expect(await box.document('a')).toMatchObject({ description: 'first' })
  await box.import('products', feed(row('a', { text: '' })))
  expect(await box.document('a')).not.toHaveProperty('description')
})

test('whatever the order in which two feeds are imported, the result is the same', async () => {
  await using box = await openImports(
    withStock.replace('./products }', './products, missing: { atMost: 100% } }'),
  )
  const ids = ['a', 'b', 'c']
  const full = fc.subarray(ids, { minLength: 1 }).map((present) => feed(...present.map((id) => row(id))))
  const delta = fc
    .array(fc.tuple(fc.constantFrom(...ids), fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 3 })
    .map((rows) => `sku,qty\n${rows.map((cells) => cells.join(',')).join('\n')}\n`)
  const history = fc.tuple(fc.array(full, { minLength: 1, maxLength: 3 }), fc.array(delta, { maxLength: 3 }))
  const run = async (files: { feed: string; content: string }[]) => {
    // The manifest goes on: what was imported in earlier runs must not come back.
    await box.emptyMirror()
    box.start()
    for (const { feed: name, content } of files) {
      await box.import(name, content, { mode: name === 'stock' ? 'delta' : 'full' })
    }
    return box.products()
  }
  await fc.assert(
    fc.asyncProperty(history, fc.infiniteStream(fc.boolean()), async ([fulls, deltas], coin) => {
      const one = fulls.map((content) => ({ feed: 'products', content }))
      const other = deltas.map((content) => ({ feed: 'stock', content }))
      const shuffled: typeof one = []
      const [left, right] = [[...one], [...other]]
      for (const first of coin) {
        const next = (first ? left : right).shift() ?? left.shift() ?? right.shift()
        if (!next) break
        shuffled.push(next)
      }
      expect(await run(shuffled)).toEqual(await run([...one, ...other]))
    }),
    { numRuns: 15 },
  )
  expect(box.failures).toEqual([])
})

test('a stop in the middle of a file, and a start again, end with the whole file and true counts', async () => {
  await using box = await openImports('products: { drop: ./drop }')
  const rows = Array.from({ length: 6_000 }, (_, index) => row(`p${index}`))
  const importing = box.import('products', feed(...rows))
  while (box.mirror.count().products < 500) await new Promise(setImmediate)
  await box.stop()
  box.start()
  const report = await importing
  expect(box.mirror.count().products).toBe(6_000)
  expect(report).toMatchObject({ records: 6_000, changes: { added: 6_000, new: 6_000 } })
})

async function reconfigure(box: Awaited<ReturnType<typeof openImports>>, feeds: string): Promise<void> {
  await box.stop()
  Object.assign(box.catalog, await catalogFrom(box.dir.path, feeds))
  box.start()
}

const all = 'missing: { atMost: 100% }'
const withTexts = (missing: string) => `products: { drop: ./products, ${all} }
texts: { drop: ./texts, fields: { product_id: sku, description: text }, ${missing} }`

test.each([
  ['ignores what is missing', withTexts('missing: { action: ignore }')],
  ['takes deltas', withTexts(`mode: delta, ${all}`)],
  ['is gone', `products: { drop: ./products, ${all} }`],
])('what a feed missed is in stock again with the next file of any feed, once it %s', async (_, after) => {
  await using box = await openImports(withTexts(all))
  const files = feed(row('a'), row('b'))
  await box.import('products', files)
  await box.import('texts', 'sku,text\na,x\nb,y\n')
  await box.import('texts', 'sku,text\na,x\n')
  expect(await box.document('b')).toMatchObject({ availability: 'OutOfStock' })
  await reconfigure(box, after)
  await box.import('products', files)
  expect(await box.document('b')).toMatchObject({ availability: 'InStock' })
  expect(await box.lane('b')).toBe('urgent')
})

test('a field that no feed maps any more goes with the next file, as if it had never been mapped', async () => {
  const mapped = (more: string) =>
    `products: { drop: ./products, fields: { product_id: id, name: id, url: { value: "https://shop.example" }, image_url: { value: "https://shop.example" }, availability: { value: InStock }, price: price, price_currency_code: { value: EUR }${more} } }`
  const file = (price: string) => `id,price,cost,brand\na,${price},3,B\nb,5,3,B\n`
  await using box = await openImports(mapped(', supplier_cost: cost, brand: brand'))
  await box.import('products', file('5'))
  expect(await box.document('a')).toMatchObject({ supplier_cost: 3, brand: 'B' })
  await reconfigure(box, mapped(''))
  await box.import('products', file('12'))
  await using fresh = await openImports(mapped(''))
  await fresh.import('products', file('12'))
  expect(box.products()).toEqual(fresh.products())
})
