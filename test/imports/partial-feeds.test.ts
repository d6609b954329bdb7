import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openImports } from './harness.ts'

type Box = Awaited<ReturnType<typeof openImports>>

/** Each carries a part of the fields; what a shop is called abroad is written by those who translate. */
const fourFeeds = `catalogue:
  drop: ./catalogue
  files: { full: "full_*", delta: "delta_*" }
  missing: { atMost: 100% }
  asOf: { name: "_(?<stamp>[0-9]{8})" }
  fields:
    product_id: id
    name: title
    url: "https://shop.example/{id}"
    image_url: "https://shop.example/{id}.jpg"
    price_currency_code: { value: EUR }
    custom_fields: { entries: { material: material } }
prices:
  drop: ./prices
  files: { full: "full_*", delta: "delta_*" }
  missing: { action: ignore }
  asOf: { column: at, date: YYYY-MM-DD }
  fields: { product_id: id, price: price, list_price: was }
stock:
  drop: ./stock
  mode: delta
  fields: { product_id: id, inventory_level: qty, availability: { column: qty, when: { "0": OutOfStock }, otherwise: InStock } }
translations:
  drop: ./translations
  mode: delta
  fields: { product_id: id, name: name, description: text }
  owns: [name]`

interface File {
  feed: string
  mode: 'full' | 'delta'
  content: string
  asOf?: string
}

const table = (header: string, rows: readonly (readonly (string | number)[])[]) =>
  `${[header, ...rows.map((cells) => cells.join(','))].join('\n')}\n`

const catalogue = (
  mode: 'full' | 'delta',
  ...rows: [id: string, title: string, material: string][]
): File => ({
  feed: 'catalogue',
  mode,
  content: table('id,title,material', rows),
})
const prices = (
  mode: 'full' | 'delta',
  at: string,
  ...rows: [id: string, price: number, was: string][]
): File => ({
  feed: 'prices',
  mode,
  content: table(
    'id,price,was,at',
    rows.map((cells) => [...cells, at]),
  ),
})
const stock = (...rows: [id: string, quantity: number][]): File => ({
  feed: 'stock',
  mode: 'delta',
  content: table('id,qty', rows),
})
const translations = (...rows: [id: string, name: string, text: string][]): File => ({
  feed: 'translations',
  mode: 'delta',
  content: table('id,name,text', rows),
})

const take = (box: Box, { feed, mode, content, asOf }: File) =>
  box.import(feed, content, { mode, ...(asOf === undefined ? {} : { asOf }) })

test('four feeds make one product, each with its part, and say nothing of the parts of others', async () => {
  await using box = await openImports(fourFeeds)
  const files = [
    stock(['a', 3]),
    translations(['a', 'Panna', 'Av järn']),
    prices('full', '2026-11-20', ['a', 9, '12']),
  ]
  for (const file of files) expect(await take(box, file)).toMatchObject({ changes: { incomplete: 1 } })
  expect(box.mirror.count().products).toBe(0)
  await take(box, catalogue('full', ['a', 'Pan', 'iron']))
  const whole = {
    product_id: 'a',
    name: 'Panna',
    url: 'https://shop.example/a',
    image_url: 'https://shop.example/a.jpg',
    availability: 'InStock',
    price: 9,
    price_currency_code: 'EUR',
    list_price: 12,
    description: 'Av järn',
    inventory_level: 3,
    custom_fields: { material: 'iron' },
  }
  expect(await box.document('a')).toEqual(whole)
  await take(box, catalogue('full', ['a', 'Large pan', '']))
  const { custom_fields: _, ...withoutMaterial } = whole
  expect(await box.document('a')).toEqual(withoutMaterial)
  await take(box, prices('delta', '2026-11-20', ['a', 8, '']))
  await take(box, stock(['a', 0]))
  const after = { ...withoutMaterial, price: 8, inventory_level: 0, availability: 'OutOfStock' }
  expect(await box.document('a')).toEqual(after)
})

test('a full file takes back what a delta of its feed said, though its row is the one of the last full file', async () => {
  await using box = await openImports(fourFeeds.slice(0, fourFeeds.indexOf('translations:')))
  const full = catalogue('full', ['a', 'Pan', 'iron'], ['b', 'Pot', 'steel'], ['c', 'Lid', 'glass'])
  await take(box, full)
  for (const id of ['a', 'b', 'c']) {
    await take(box, stock([id, 1]))
    await take(box, prices('delta', '2026-11-20', [id, 5, '']))
  }
  await take(box, catalogue('delta', ['a', 'Pan!', 'copper'], ['d', 'Cup', 'tin']))
  expect(await box.document('a')).toMatchObject({ name: 'Pan!', custom_fields: { material: 'copper' } })
  expect(await box.document('b')).toMatchObject({ name: 'Pot' })
  // What only a delta named is missing from the next full file.
  expect(await take(box, full)).toMatchObject({ removals: { missing: 1, of: 4, held: false } })
  expect(await box.document('a')).toMatchObject({ name: 'Pan', custom_fields: { material: 'iron' } })
})

test('a file is late by full files of its own feed only', async () => {
  await using box = await openImports(fourFeeds)
  const old = '2026-11-01T00:00:00.000Z'
  await take(box, { ...catalogue('full', ['a', 'Pan', 'iron']), asOf: '2026-11-20T00:00:00.000Z' })
  expect(await take(box, prices('full', '2026-11-10', ['a', 5, '']))).toMatchObject({ outcome: 'imported' })
  expect(await take(box, stock(['a', 1]))).toMatchObject({ outcome: 'imported' })
  expect(await take(box, { ...catalogue('delta', ['a', 'Old', '']), asOf: old })).toMatchObject({
    outcome: 'late',
  })
  expect(await take(box, prices('delta', '2026-11-09', ['a', 1, '']))).toMatchObject({ outcome: 'late' })
  expect(await take(box, prices('delta', '2026-11-11', ['a', 6, '']))).toMatchObject({ outcome: 'imported' })
  // Deltas make no other late.
  expect(await take(box, prices('delta', '2026-11-10', ['a', 7, '']))).toMatchObject({ outcome: 'imported' })
  await take(box, translations(['a', 'Panna', 'text']))
  expect(await box.document('a')).toMatchObject({ name: 'Panna', price: 7 })
})

test('custom_fields are one field: who owns them writes all entries, and those of others are not heard', async () => {
  await using box = await openImports(
    fourFeeds
      .replace(
        'description: text',
        'description: text, custom_fields: { entries: { name_sv: name, text_sv: text } }',
      )
      .replace('owns: [name]', 'owns: [custom_fields]'),
  )
  await take(box, catalogue('full', ['a', 'Pan', 'iron']))
  await take(box, stock(['a', 1]))
  await take(box, prices('delta', '2026-11-20', ['a', 5, '']))
  expect(await box.document('a')).toMatchObject({ custom_fields: { material: 'iron' } })
  await take(box, translations(['a', 'Panna', 'Av järn']))
  const swedish = { name_sv: 'Panna', text_sv: 'Av järn' }
  expect(await box.document('a')).toMatchObject({ name: 'Pan', custom_fields: swedish })
  await take(box, catalogue('full', ['a', 'Pan', 'copper']))
  expect(await box.document('a')).toHaveProperty('custom_fields', swedish)
  // An entry about which a delta says nothing stays, since the same feed wrote it.
  await take(box, translations(['a', 'Pannan', '']))
  expect(await box.document('a')).toHaveProperty('custom_fields', { ...swedish, name_sv: 'Pannan' })
})

test('however the files of four feeds, full and delta, come among each other, the products are the same', async () => {
  await using box = await openImports(fourFeeds)
  const id = fc.constantFrom('a', 'b', 'c')
  const word = fc.constantFrom('', 'one', 'two')
  const mode = fc.constantFrom('full' as const, 'delta' as const)
  const some = <T extends [string, ...unknown[]]>(row: fc.Arbitrary<T>) =>
    fc.uniqueArray(row, { minLength: 1, maxLength: 3, selector: ([key]) => key })
  const title = fc.constantFrom('Pan', 'Pot')
  const quantity = fc.integer({ min: 0, max: 2 })
  const histories = fc.tuple(
    fc.array(
      fc.tuple(mode, some(fc.tuple(id, title, word))).map(([kind, rows]) => catalogue(kind, ...rows)),
      { maxLength: 3 },
    ),
    fc.array(
      fc
        .tuple(mode, some(fc.tuple(id, fc.integer({ min: 1, max: 3 }), fc.constantFrom('', '7'))))
        .map(([kind, rows]) => prices(kind, '2026-11-20', ...rows)),
      { maxLength: 3 },
    ),
    fc.array(
      some(fc.tuple(id, quantity)).map((rows) => stock(...rows)),
      { maxLength: 3 },
    ),
    fc.array(
      some(fc.tuple(id, title, word)).map((rows) => translations(...rows)),
      { maxLength: 2 },
    ),
  )
  await fc.assert(
    fc.asyncProperty(histories, fc.infiniteStream(fc.nat({ max: 3 })), async (feeds, turns) => {
      const left = feeds.map((files) => [...files])
      const shuffled: File[] = []
      for (const turn of turns) {
        const next = left[turn]?.shift() ?? left.find((files) => files.length > 0)?.shift()
        if (!next) break
        shuffled.push(next)
      }
      expect(await replay(box, shuffled)).toEqual(await replay(box, feeds.flat()))
    }),
    { numRuns: 12 },
  )
  expect(box.failures).toEqual([])
})

/** What is known after these files, from nothing. */
async function replay(box: Box, files: readonly File[]) {
  // The manifest goes on: what was imported in earlier runs must not come back.
  await box.emptyMirror()
  box.start()
  for (const file of files) expect(await take(box, file)).not.toMatchObject({ outcome: 'refused' })
  return { products: box.products(), incomplete: new Set(box.mirror.incomplete(100)) }
}
