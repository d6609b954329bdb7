import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

const native = (more: Readonly<Record<string, readonly string[]>>) => {
  const columns = {
    product_id: ['P1', 'P2'],
    image: ['', ''],
    image_url: ['https://c.example/1.jpg', 'https://c.example/2.jpg'],
    availability: ['InStock', 'OutOfStock'],
    price_currency_code: ['EUR', 'EUR'],
    ...more,
  }
  return guessText(tableOf(columns))
}

it('cells that are written as the API wants them are read by the preset alone', async () => {
  const { rules } = await native({ categories: ['Home/Cups|Sale', 'Home'] })
  expect(rules).toHaveProperty('preset')
  expect(rules).not.toHaveProperty('availability')
  expect(rules).not.toHaveProperty('categories')
})

it.each([
  ['words of shops', { availability: ['in stock', 'out of stock'] }, { availability: 'OutOfStock' }],
  ['paths', { categories: ['Home > Cups', 'Home > Mugs'] }, { categories: ['Home/Mugs'] }],
  [
    'several of them',
    { alternate_image_urls: ['', 'https://c.example/a.jpg, https://c.example/b.jpg'] },
    {
      alternate_image_urls: ['https://c.example/a.jpg', 'https://c.example/b.jpg'],
    },
  ],
  ['dates', { date_published: ['31.12.2025', '30.12.2025'] }, { date_published: '2025-12-30' }],
  [
    'decimal commas',
    { rating_value: ['4,5', '3,5'], price: ['1.299,00', '5,50'] },
    { price: 5.5, rating_value: '3.5' },
  ],
])(
  'cells of native columns that are written otherwise get rules of their own: %s',
  async (_, more, product) => {
    const { products, rules } = await native(more)
    expect(rules.preset).toMatchObject({ value: 'native' })
    expect(products).toHaveLength(2)
    expect(products[1]).toMatchObject(product)
  },
)

it('words that nobody knows are asked about', async () => {
  const { open } = await native({ availability: ['bald', 'in stock'] })
  expect(open).toContainEqual(expect.stringMatching(/availability: .*"bald"/))
})
