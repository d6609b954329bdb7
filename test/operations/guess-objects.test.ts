import { describe, expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

const image = (name: string) => `https://c.example/${name}.jpg`
const base = (row: number) => ({ id: row, name: `Cup of colour ${row}`, url: `https://c.example/${row}` })

function guessObjects(...objects: object[]) {
  return guessText(JSON.stringify(objects.map((object, row) => ({ ...base(row), ...object }))))
}

describe('lists of objects in a record', () => {
  it('hold images, categories and brands', async () => {
    const { rules, products } = await guessObjects(
      {
        price: 5,
        images: [
          { id: 1, src: image('a'), thumbnail: image('a-s') },
          { id: 2, src: image('b') },
        ],
        categories: [{ id: 7, name: 'Cups &amp; mugs' }, { name: 'Sale' }],
        brands: [{ name: 'Lumo' }],
      },
      { price: 6, images: [{ id: 3, src: image('c') }], categories: [], brands: [] },
    )
    expect(products).toMatchObject([
      {
        image_url: image('a'),
        alternate_image_urls: [image('a'), image('b')],
        categories: ['Cups & mugs', 'Sale'],
        brand: 'Lumo',
      },
      { image_url: image('c'), alternate_image_urls: [image('c')] },
    ])
    expect(rules.image_url).not.toHaveProperty('open')
  })

  it('hold images in XML, also where a product has one alone', async () => {
    const item = (id: number, ...names: string[]) =>
      `<product><id>${id}</id><name>Red cup</name><price>5</price><images>${names
        .map((name) => `<image><url>${image(name)}</url></image>`)
        .join('')}</images></product>`
    const { products } = await guessText(`<shop>${item(1, 'a')}${item(2, 'b', 'c')}${item(3, 'd')}</shop>`)
    expect(products.map((product) => product?.image_url)).toEqual([image('a'), image('b'), image('d')])
    expect(products[1]?.alternate_image_urls).toEqual([image('b'), image('c')])
  })

  it('hold no images where films stand among them', async () => {
    const media = [{ url: image('a') }, { url: 'https://c.example/a.mp4' }]
    const { open } = await guessObjects({ price: 5, media })
    expect(open).toContainEqual(expect.stringMatching(/^fields\.image_url: .*"media" may lead to one$/))
  })

  it('are the variants of a product, which costs what the cheapest costs', async () => {
    const variant = (id: number, price: string, was: string | null, available: boolean) => ({
      id,
      product_id: 1,
      title: `Size ${id}`,
      sku: id === 3 ? '' : `S-${id}`,
      price,
      compare_at_price: was,
      available,
    })
    const { products, open } = await guessObjects(
      {
        handle: 'red-cup',
        images: [{ src: image('a') }],
        variants: [variant(1, '12.00', null, false), variant(2, '9.50', '11.00', true)],
      },
      { handle: 'blue-cup', images: [{ src: image('b') }], variants: [variant(3, '7.00', null, false)] },
    )
    expect(products).toMatchObject([
      {
        price: 9.5,
        list_price: 11,
        availability: 'InStock',
        skus: [
          { id: 'S-1', name: 'Size 1', price: 12, availability: 'OutOfStock' },
          { id: 'S-2', name: 'Size 2', price: 9.5, list_price: 11, availability: 'InStock' },
        ],
      },
      { price: 7, availability: 'OutOfStock', skus: [{ id: '3' }] },
    ])
    expect(open).not.toContainEqual(expect.stringMatching(/fields\.(?:price|availability):/))
  })

  it.each([
    ['all have a price', '<price>9.50</price>', true],
    ['some have none', '', false],
  ])('are variants in XML, where %s', async (_, price, isWhole) => {
    const variant = (sku: string, rest: string) =>
      `<variant><sku>${sku}</sku>${rest}<stock>${sku === 'B' ? 3 : 0}</stock></variant>`
    const twelve = '<price>12.00</price>'
    const text = `<shop>
      <product><id>1</id><title>Red cup</title><variants>${variant('A', twelve)}</variants></product>
      <product><id>2</id><title>Blue cup</title>
        <variants>${variant('A', twelve)}${variant('B', price)}${variant('C', twelve)}</variants></product></shop>`
    const { rules, products } = await guessText(text)
    if (isWhole) {
      expect(products).toMatchObject([{ price: 12 }, { price: 9.5, availability: 'InStock' }])
      expect(products[1]?.skus).toHaveLength(3)
    } else
      expect(rules.price).toMatchObject({ open: true, comment: expect.stringMatching(/the last one counts/) })
  })

  it('are asked about where several amounts may be the price', async () => {
    const rates = [
      { kind: 'dealer', amount: '5.00' },
      { kind: 'shop', amount: '9.00' },
    ]
    const { rules } = await guessObjects({ prices: rates }, { prices: rates })
    expect(rules.price).toMatchObject({ open: true, comment: expect.stringMatching(/which of several/) })
  })

  it('are columns where they hold a name and a value', async () => {
    const attributes = (from: string | null, key: string) => [
      { attribute_code: 'special_price', value: from },
      { attribute_code: 'url_key', value: key },
      { attribute_code: 'category_ids', value: ['1', '2'] },
    ]
    const { rules, products } = await guessText(
      JSON.stringify([
        { sku: 'A', name: 'Red cup', price: 12, custom_attributes: attributes('9.500000', 'red-cup') },
        { sku: 'B', name: 'Blue cup', price: 7, custom_attributes: attributes(null, 'blue-cup') },
      ]),
      { shopUrl: 'https://c.example' },
    )
    expect(products).toMatchObject([
      { price: 9.5, list_price: 12, url: 'https://c.example/products/red-cup' },
      { price: 7, url: 'https://c.example/products/blue-cup' },
    ])
    expect(rules.url).toHaveProperty('open', true)
  })

  it('are named where nothing is made of them', async () => {
    const { rules } = await guessObjects({ price: 5, stores: [{ city: 'Ulm' }] })
    expect(rules['']?.comment).toMatch(/not used: .*"stores"/)
  })
})

it('takes keys of objects for a preset only where they are written as it has them', async () => {
  const product = { type: 'simple', sku: 'A', regular_price: '12.00', price: '9.00', sale_price: '9.00' }
  const { rules, products } = await guessObjects(
    { ...product, stock_status: 'onbackorder' },
    { ...product, stock_status: 'instock' },
  )
  expect(rules).not.toHaveProperty('preset')
  expect(products).toMatchObject([
    { price: 9, list_price: 12, availability: 'OutOfStock' },
    { availability: 'InStock' },
  ])
  expect(products[0]).not.toHaveProperty('categories')
})

describe('what stands beside a column', () => {
  it.each<[string, string, Record<string, string[]>, RegExp]>([
    ['codes that are no pieces', 'availability', { availability: ['1', '5', '1', '2', '5', '1'] }, /codes/],
    ['a discount', 'price', { 'discount value': ['10', '0'] }, /"discount value" still to be taken off/],
    ['amounts in cents', 'price', { currency_minor_unit: ['2', '2'] }, /hundredth/],
    [
      'a flag of the sale',
      'price',
      { 'sale price': ['18', '19'], 'on sale': ['Yes', 'No'] },
      /only where "on sale" says so/,
    ],
    [
      'one word for all, and no pieces',
      'availability',
      { availability: Array(6).fill('1'), stock: ['0', '3', '0', '5', '9', '1'] },
      /same of all.*"stock"/,
    ],
    ['a list or a path', 'categories', { category: ['A | B', 'C | D'] }, /several categories, or the levels/],
  ])('asks about %s', async (_, field, columns, comment) => {
    const { rules } = await guessText(tableOf(columns))
    expect(rules[field]).toMatchObject({ open: true, comment: expect.stringMatching(comment) })
  })

  it('makes a short description the name, where no column is called so', async () => {
    const text = (name: string) => [
      'name;Nr.;Beschreibung;Langtext;Preis',
      `;1;${name};${'Lang '.repeat(40)};5`,
    ]
    const { products } = await guessText([...text('Rote Tasse'), ';2;Blaue Tasse;Kurz;6', ''].join('\n'))
    expect(products.map((product) => product?.name)).toEqual(['Rote Tasse', 'Blaue Tasse'])
    expect(products[1]).toMatchObject({ product_id: '2', description: 'Kurz' })
  })

  it.each([
    ['numbers', '20,27'],
    ['codes', 'f1d69ed617f5e837d70820fe119a72d1'],
    ['kinds of records', 'simple'],
  ])('takes no %s for categories', async (_, cell) => {
    const { products } = await guessText(tableOf({ categories: [cell, cell] }))
    expect(products[0]).not.toHaveProperty('categories')
  })

  it('takes what is called a category before what is called a type', async () => {
    const { products } = await guessText(tableOf({ 'product type': ['Shop'], category: ['Cups'] }))
    expect(products).toMatchObject([{ categories: ['Cups'] }])
  })

  it('takes no codes for the name', async () => {
    const { products } = await guessText(
      tableOf({
        name: ['', ''],
        code: ['A1-1000-0001', 'A1-1000-0002'],
        label2: ['Red cup of clay', 'Blue cup of clay'],
      }),
    )
    expect(products[0]).toMatchObject({ name: 'Red cup of clay' })
  })
})

describe('lists of texts in a record', () => {
  it('of JSON hold images and categories', async () => {
    const { rules, products } = await guessObjects(
      { price: 5, images: [image('a'), image('b')], categories: ['Home > Cups', 'Sale'] },
      { price: 6, images: [image('c')], categories: ['Home > Mugs'] },
    )
    expect(products).toMatchObject([
      {
        image_url: image('a'),
        alternate_image_urls: [image('a'), image('b')],
        categories: ['Home/Cups', 'Sale'],
      },
      { image_url: image('c'), categories: ['Home/Mugs'] },
    ])
    expect(rules.image_url).not.toHaveProperty('open')
  })

  it('are elements of XML, of which the first is the main image', async () => {
    const item = (id: number, ...names: string[]) =>
      `<offer id="${id}"><name>Red cup</name><price>5</price>${names
        .map((name) => `<picture>${image(name)}</picture>`)
        .join('')}</offer>`
    const { products } = await guessText(`<offers>${item(1, 'a', 'b')}${item(2, 'c')}</offers>`)
    expect(products).toMatchObject([
      { image_url: image('a'), alternate_image_urls: [image('a'), image('b')] },
      { image_url: image('c') },
    ])
  })
})

it('asks about amounts beside what they are to be divided by', async () => {
  const { rules } = await guessObjects({ price: { amount: 4600, divisor: 100, currency_code: 'USD' } })
  expect(rules.price).toMatchObject({ open: true, comment: expect.stringMatching(/hundredth/) })
})

it('takes no id of what is in a record for its own', async () => {
  const objects = Array.from({ length: 8 }, (_, row) => ({
    '@sourceNumber': `A${row}`,
    name: `Cup of colour ${row}`,
    price: 5 + row,
    category: { id: 7 },
    supplier: { address: { id: 3 + (row % 2) } },
  }))
  const { rules } = await guessText(JSON.stringify(objects))
  expect(rules.product_id).toMatchObject({ value: '@sourceNumber' })
})

it('takes a small picture only where there is no other', async () => {
  const { products } = await guessObjects({ price: 5, image: { thumbnail: image('s'), main: image('a') } })
  expect(products).toMatchObject([{ image_url: image('a') }])
  const small = await guessObjects({ price: 5, image: { thumbnail: image('s') } })
  expect(small.products).toMatchObject([{ image_url: image('s') }])
})

it('asks which of several prices it is', async () => {
  const { rules } = await guessText(
    tableOf({ price: ['', ''], price1: ['5.00', '6.00'], price2: ['4.00', '5.00'] }),
  )
  expect(rules.price).toMatchObject({ open: true })
})

it('reads currencies from signs of letters', async () => {
  const { rules, products } = await guessText(tableOf({ price: ['46,00 zł', '8,50 zł'] }))
  expect(products).toMatchObject([{ price: 46, price_currency_code: 'PLN' }, {}])
  expect(rules.price_currency_code).not.toHaveProperty('open')
})
