import { expect, test } from 'vitest'
import { feed, openImports, row } from './harness.ts'

const feeds = `products:
  drop: ./drop
  fields: { product_id: product_id, name: name, url: url, image_url: image_url, availability: availability, price: price, price_currency_code: price_currency_code, variation_id: description }
stock:
  drop: ./stock
  key: variation_id
  fields: { variation_id: ean, inventory_level: qty }
  changes: { atMost: 50% }`

const products = Array.from({ length: 20 }, (_, index) => row(`p${index}`, { text: `ean${index}` }))

function stock(qty: number, count: number, prefix = 'ean') {
  const rows = Array.from({ length: 20 }, (_, index) => `${prefix}${index},${index < count ? qty : 1}`)
  return `ean,qty\n${rows.join('\n')}\n`
}

test('files that name products by a key are held by the products that they find', async () => {
  await using box = await openImports(feeds)
  await box.import('products', feed(...products))
  expect(await box.import('stock', stock(1, 20))).toMatchObject({ outcome: 'imported', rejected: 0 })
  expect(await box.import('stock', stock(2, 10))).toMatchObject({ outcome: 'imported' })
  const many = await box.import('stock', stock(3, 11))
  expect(many).toMatchObject({
    outcome: 'held',
    reason: "it changes 11 of the feed's 20 products (urgent), more than changes.atMost.urgent (50%)",
  })
  const replaced = await box.import('stock', stock(1, 20, 'gtin'))
  expect(replaced).toMatchObject({
    outcome: 'held',
    reason: 'none of the 20 products that the feed named before is in the file: all ids are others',
  })
  expect(await box.document('p0')).toMatchObject({ inventory_level: 2, availability: 'InStock' })
})
