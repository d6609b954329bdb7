import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

function objectsWith(prices: readonly unknown[]): string {
  const objects = prices.map((price, row) => ({
    sku: `A${row}`,
    name: `Cup of colour ${row}`,
    url: `https://c.example/${row}`,
    image: `https://c.example/${row}.jpg`,
    price,
    compare_at_price: row === 1 ? 24.5 : null,
  }))
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('')
}

it.each([
  ['that were counted together', [10.1, 20.2, 30.299999999999997, 40.400000000000006]],
  ['with three decimals', [10.125, 20.125, 30.125, 40.125]],
  ['beside texts', [10.1, '20.20', 30.3, '40.40']],
])('numbers of JSON are prices as they are: %s', async (_, prices) => {
  const { rules, products } = await guessText(objectsWith(prices))
  expect(rules.price).toMatchObject({ value: 'price' })
  expect(rules.price).not.toHaveProperty('open')
  expect(products.map((product) => product?.price)).toEqual(prices.map(Number))
  expect(products[1]).toMatchObject({ list_price: 24.5 })
})

it('pieces with a minus behind them are none', async () => {
  const stock = [...Array.from({ length: 20 }, (_, row) => `${row + 1},000`), '2,000-']
  const { products } = await guessText(tableOf({ LABST: stock, price: stock.map(() => '5,00') }))
  expect(products[1]).toMatchObject({ availability: 'InStock', inventory_level: 2 })
  expect(products.at(-1)).toMatchObject({ availability: 'OutOfStock' })
  expect(products.at(-1)).not.toHaveProperty('inventory_level')
})

it('one mark may stand before the decimals and between thousands', async () => {
  const price = ['4,417,08', '417,08', '1,299,00', '12,50']
  const { rules, products } = await guessText(tableOf({ price }))
  expect(rules.price?.value).toMatchObject({ decimal: ',', thousands: ',' })
  expect(products.map((product) => product?.price)).toEqual([4417.08, 417.08, 1299, 12.5])
})
