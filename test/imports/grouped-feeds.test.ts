import { readdir, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { checkFile } from '../../src/operations/check-file.ts'
import { diffFile } from '../../src/operations/diff-file.ts'
import { openImports } from './harness.ts'

/** What is the same in all three: enough for a complete product. */
const constants = `availability: { value: InStock }
    price_currency_code: { value: EUR }
    image_url: "https://shop.example/{%}.jpg"
    url: "https://shop.example/{%}"`

/** A feed whose products are named by one column. */
function feedOf({ id, fields, group }: { id: string; fields: string; group: string }): string {
  return `products:
  drop: ./drop
  missing: { atMost: 60% }
  group: ${group}
  fields:
    product_id: ${id}
    ${fields}
    ${constants.replaceAll('%', id)}
`
}

const handles = feedOf({ id: 'Handle', fields: 'name: Title\n    price: Variant Price', group: 'true' })

/** Rows like those of a Shopify export: the first of a handle has what the product has, the others their own cells. */
function handleFile(...rows: string[]): string {
  return `Handle,Title,Variant SKU,Variant Price,Image Src\n${rows.join('\n')}\n`
}

test('rows of one handle are one product, also when they are scattered, and count once', async () => {
  await using box = await openImports(handles)
  const together = handleFile('shirt,Shirt,s-1,,1.jpg', 'shirt,,s-2,25,', 'cap,Cap,c-1,10,', 'shirt,,,,2.jpg')
  const first = await box.import('products', together)
  expect(first).toMatchObject({ outcome: 'imported', records: 2, rows: 4, rejected: 0 })
  expect(first.changes).toMatchObject({ added: 2, superseded: 0 })
  expect(await box.document('shirt')).toMatchObject({ name: 'Shirt', price: 25 })
  await box.deliverAll()
  const scattered = handleFile(
    'shirt,Shirt,s-1,,1.jpg',
    'cap,Cap,c-1,10,',
    'shirt,,s-2,25,',
    'shirt,,,,2.jpg',
  )
  expect(await box.import('products', scattered)).toMatchObject({ unchanged: 2, changes: { changed: 0 } })
  const gone = await box.import('products', handleFile('shirt,Shirt,s-1,26,', 'shirt,,s-2,27,'))
  expect(gone).toMatchObject({
    removals: { missing: 1, of: 2, held: false },
    changes: { changed: 1, missing: 1 },
  })
  expect(await box.document('cap')).toMatchObject({ availability: 'OutOfStock' })
})

test('one bad row rejects its product with all rows, which can be corrected and dropped again', async () => {
  await using box = await openImports(handles)
  const report = await box.import(
    'products',
    handleFile('shirt,Shirt,s-1,20,1.jpg', 'cap,Cap,c-1,ten,', 'shirt,,s-2,20,,too many', 'cap,,c-2,,'),
  )
  expect(report).toMatchObject({ records: 2, rows: 4, rejected: 2, changes: { added: 0 } })
  expect(report.problems.map(({ code, count }) => [code, count])).toEqual([
    ['cell-count', 1],
    ['not-a-number', 1],
  ])
  const lines = (await box.read(report.rejectsFile as string)).trim().split('\n')
  expect(lines).toHaveLength(5)
  expect(lines.filter((line) => line.includes('record 3, another row'))).toHaveLength(1)
  const corrected = lines.map((line) => line.replaceAll(',ten,', ',10,').replace(',too many', '')).join('\n')
  const again = await box.import('products', corrected)
  expect(again).toMatchObject({ records: 2, rejected: 0, changes: { added: 2 } })
  expect(again.removals).toBeUndefined()
})

const parents = feedOf({
  id: 'SKU',
  fields: 'name: Name\n    price: Regular price',
  group: '{ parent: Parent, names: [SKU, "id:{ID}"] }',
})

test('variations belong to the parent that they name by SKU or id; one whose parent is not there says so', async () => {
  await using box = await openImports(parents)
  const text = `ID,Type,SKU,Name,Regular price,Parent
11,variation,hoodie-red,Hoodie - Red,45,hoodie
1,variable,hoodie,Hoodie,,
2,simple,beanie,Beanie,18,
12,variation,,Hoodie - Blue,42,id:1
13,variation,lost-blue,Lost,9,lost
`
  const report = await box.import('products', text)
  expect(report).toMatchObject({ outcome: 'imported', records: 3, rows: 5, rejected: 0, warned: 1 })
  expect(report.problems).toMatchObject([{ code: 'no-parent', field: 'Parent', severity: 'warn' }])
  expect(await box.document('hoodie')).toMatchObject({ name: 'Hoodie', price: 45 })
  expect(await box.document('hoodie-red')).toBeUndefined()
  expect(await box.document('lost-blue')).toMatchObject({ price: 9 })
  const narrow = await box.import('products', 'ID,SKU,Name,Regular price\n1,hoodie,Hoodie,1\n')
  expect(narrow).toMatchObject({ outcome: 'refused' })
  expect([narrow.reason, narrow.hint]).toEqual([
    expect.stringContaining('"Parent" (for group)'),
    expect.stringContaining('Correct group in the configuration'),
  ])
})

const members = feedOf({
  id: 'sku',
  fields: 'name: name\n    price: price',
  group: '{ members: { column: configurable_variations, pattern: "(?:^|,)sku=([^,]+)" } }',
})

test('a row that lists its members has them, and what it no longer lists is a product of its own', async () => {
  await using box = await openImports(members)
  const file = (list: string) => `sku,product_type,name,price,configurable_variations
MH01-XS,simple,Tee XS,52,
MH01-S,simple,Tee S,53,
MH01,configurable,Tee,,${list}
`
  const both = 'sku=MH01-XS,size=XS|sku=MH01-S,size=S'
  expect(await box.import('products', file(`"${both}"`))).toMatchObject({ records: 1, rows: 3 })
  expect(await box.document('MH01')).toMatchObject({ name: 'Tee', price: 52 })
  const less = await box.import('products', file('"sku=MH01-XS,size=XS|sku=MH01-L,size=L"'))
  expect(less).toMatchObject({ records: 2, warned: 1, changes: { added: 1 } })
  expect(less.problems).toMatchObject([{ code: 'no-member' }])
})

test('check and diff see the same products, and nothing stays in the state folder', async () => {
  await using box = await openImports(handles)
  const text = handleFile('shirt,Shirt,s-1,20,', 'cap,Cap,c-1,ten,', 'shirt,,s-2,25,', 'tie,Tie,t-1,5,')
  const file = box.dir.join('dry.csv')
  await writeFile(file, text)
  const feed = box.catalog.feeds.values().next().value
  if (!feed) throw new Error('no feed')
  const signal = new AbortController().signal
  const nowMs = 0
  const checked = await checkFile({ feed, file, signal, nowMs })
  expect(checked).toMatchObject({ records: 3, rows: 4, applied: 2, rejected: 1, superseded: 0 })
  const onChange = () => undefined
  const diff = await diffFile({
    catalog: box.catalog,
    feed,
    file,
    dir: box.dir.path,
    mirror: box.mirror,
    signal,
    onChange,
    nowMs,
  })
  expect(diff).toMatchObject({ records: 3, rejected: 1, changes: { added: 2 } })
  const report = await box.import('products', text)
  expect(report).toMatchObject({ records: 3, rejected: 1, changes: { added: 2 } })
  expect(await readdir(box.dir.join('state/tmp')).catch(() => [])).toEqual([])
})
