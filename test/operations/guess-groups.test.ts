import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

const rows = {
  sku: ['', '', '', ''],
  product_id: ['P1', 'P1', 'P1', 'P2'],
  variant_id: ['11', '12', '13', '21'],
  name: ['Cup', 'Cup', 'Cup', 'Mug'],
  url: ['', '', '', ''],
  image: [1, 1, 2, 3].map((name) => `https://c.example/${name}.jpg`),
  handle: ['red-cup', 'red-cup', 'red-cup', 'mug'],
  price: ['12.00', '9.50', '', '7.00'],
  'compare at price': ['', '11.00', '', ''],
  stock: ['0', '3', '4', '0'],
  'in stock': ['false', 'true', 'true', 'false'],
  size: ['S', 'M', 'L', ''],
  brand: ['Lumo', 'Lumo', 'Lumo', 'Lumo'],
}

it('rows of one product: the lowest price, all pieces, in stock where one is, a SKU each', async () => {
  const { products, rules } = await guessText(tableOf(rows), { shopUrl: 'https://shop.example' })
  expect(products).toMatchObject([
    {
      product_id: 'P1',
      url: 'https://shop.example/products/red-cup',
      price: 9.5,
      list_price: 11,
      availability: 'InStock',
      inventory_level: 7,
      image_url: 'https://c.example/1.jpg',
      alternate_image_urls: ['https://c.example/1.jpg', 'https://c.example/2.jpg'],
      skus: [
        { id: '11', price: 12, availability: 'OutOfStock', inventory_level: 0, custom_fields: { size: 'S' } },
        { id: '12', price: 9.5, list_price: 11, availability: 'InStock', inventory_level: 3 },
        { id: '13', availability: 'InStock', image_url: 'https://c.example/2.jpg' },
      ],
    },
    { product_id: 'P2', price: 7, availability: 'OutOfStock', skus: [{ id: '21' }] },
  ])
  expect(products[0]).not.toHaveProperty('custom_fields')
  expect(rules.product_id).toMatchObject({ open: true, comment: expect.stringMatching(/it repeats/) })
})

it('is the product that repeats, where each of its rows has a SKU', async () => {
  const sku = ['A-S', 'A-M', 'A-L', 'B']
  const { products } = await guessText(tableOf({ ...rows, sku, variant_id: ['', '', '', ''] }))
  expect(products).toMatchObject([
    { product_id: 'P1', price: 9.5, skus: [{ id: 'A-S' }, { id: 'A-M' }, { id: 'A-L' }] },
    { product_id: 'P2', skus: [{ id: 'B' }] },
  ])
})

it('takes a SKU where there is one, and the number of the variant elsewhere', async () => {
  const { products } = await guessText(tableOf({ ...rows, sku: ['A-S', '', 'A-L', ''] }))
  expect(products[0]?.skus).toMatchObject([{ id: 'A-S' }, { id: '12' }, { id: 'A-L' }])
})

it('does not add up what rows of several categories repeat', async () => {
  const { products } = await guessText(
    tableOf({
      sku: ['A', 'A', 'B'],
      name: ['Red cup', 'Red cup', 'Blue cup'],
      price: ['5.00', '5.00', '6.00'],
      stock: ['7', '7', '2'],
      category: ['Cups', 'Sale', 'Cups'],
    }),
  )
  expect(products).toMatchObject([
    { product_id: 'A', inventory_level: 7, categories: ['Cups', 'Sale'] },
    { product_id: 'B', inventory_level: 2 },
  ])
  expect(products[0]).not.toHaveProperty('skus')
})

it('asks whose name counts where the rows differ', async () => {
  const { rules } = await guessText(tableOf({ ...rows, name: ['Cup S', 'Cup M', 'Cup L', 'Mug'] }))
  expect(rules.name).toMatchObject({ open: true, comment: expect.stringMatching(/the first one counts/) })
})

it('keeps an id that some records lack before a name and a link', async () => {
  const sku = ['A', 'B', 'C', '', 'E', 'F', 'G', 'H']
  const { rules, products } = await guessText(tableOf({ sku }))
  expect(rules.product_id).toMatchObject({
    value: 'sku',
    open: true,
    comment: expect.stringMatching(/rejected/),
  })
  expect(products.map((product) => product?.product_id)).toEqual([
    'A',
    'B',
    'C',
    undefined,
    'E',
    'F',
    'G',
    'H',
  ])
})
