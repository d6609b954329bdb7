import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

const shop = { shopUrl: 'https://shop.example', currency: 'CZK' }
const product = (id: string, rest: string) =>
  `<item id="${id}"><name>Rake ${id}</name><url>https://c.example/${id}</url><image>https://c.example/${id}.jpg</image>${rest}</item>`
const variant = (code: string, price: string, was: string, stock: number) =>
  `<variant><code>${code}</code><stock><amount>${stock}</amount></stock><currency>CZK</currency><price_vat>${price}</price_vat><old_price>${was}</old_price></variant>`

it('what a product does not say itself its variants do, and it where it has none', async () => {
  const own = (price: number, stock: number) =>
    `<code>R</code><stock><amount>${stock}</amount></stock><currency>CZK</currency><price_vat>${price}.00</price_vat><old_price/>`
  const variants = [variant('R-L', '329.00', '399.00', 0), variant('R-S', '299.00', '349.00', 8)]
  const { products } = await guessText(
    `<shop>${product('1', own(250, 3))}${product('2', `<variants>${variants.join('')}</variants>`)}${product('3', own(80, 0))}${product('4', `<variants>${variant('Q', '50.00', '60.00', 0)}</variants>`)}</shop>`,
    shop,
  )
  expect(products).toMatchObject([
    { product_id: '1', price: 250, availability: 'InStock', inventory_level: 3 },
    {
      product_id: '2',
      price: 299,
      list_price: 349,
      availability: 'InStock',
      inventory_level: 8,
      price_currency_code: 'CZK',
      skus: [
        { id: 'R-L', price: 329, list_price: 399, availability: 'OutOfStock', inventory_level: 0 },
        { id: 'R-S', price: 299, list_price: 349, availability: 'InStock', inventory_level: 8 },
      ],
    },
    { product_id: '3', price: 80, availability: 'OutOfStock', inventory_level: 0 },
    { product_id: '4', price: 50, availability: 'OutOfStock', skus: [{ id: 'Q' }] },
  ])
  expect(products[0]).not.toHaveProperty('skus')
})

const cup = (id: number, options: readonly object[]) => ({
  id,
  name: `Tall mug ${id}`,
  price: 20,
  images: [{ url: `https://c.example/${id}.jpg` }],
  options,
})

it('a flag of variants that are gone says which product is', async () => {
  const { products } = await guessText(
    JSON.stringify([
      cup(1, [
        { id: 11, name: 'L', price: 26, sold_out: true },
        { id: 12, name: 'S', price: 20, sold_out: false },
      ]),
      cup(2, [{ id: 21, name: 'Only', price: 20, sold_out: true }]),
    ]),
    shop,
  )
  expect(products).toMatchObject([
    {
      price: 20,
      availability: 'InStock',
      skus: [
        { id: '11', name: 'L', price: 26, availability: 'OutOfStock' },
        { id: '12', price: 20, availability: 'InStock' },
      ],
    },
    { price: 20, availability: 'OutOfStock' },
  ])
})

it('what options add to a price makes no variants', async () => {
  const { products, open } = await guessText(
    JSON.stringify([
      cup(1, [
        { id: 11, name: 'Gift wrap', price: 2 },
        { id: 12, name: 'Engraving', price: 5 },
      ]),
      cup(2, []),
    ]),
    shop,
  )
  expect(products).toMatchObject([{ price: 20 }, { price: 20 }])
  expect(products[0]).not.toHaveProperty('skus')
  expect(open.join('\n')).toMatch(/fields\.skus: .*are they variants\?/)
})

it('asks about variants that stand in numbered columns', async () => {
  const { open } = await guessText(
    tableOf({
      option1_name: ['S', 'M'],
      option1_price: ['26.00', '27.00'],
      option2_price: ['28.00', ''],
    }),
    shop,
  )
  expect(open.join('\n')).toMatch(/fields\.skus: "option1_price", "option2_price" may be prices of variants/)
})
