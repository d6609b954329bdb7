import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

const google = (...prices: readonly string[]) =>
  tableOf({
    id: prices.map((_, row) => `G${row}`),
    title: prices.map(() => 'Red cup'),
    link: prices.map((_, row) => `https://c.example/${row}`),
    image_link: prices.map((_, row) => `https://c.example/${row}.jpg`),
    price: prices,
    availability: prices.map(() => 'in stock'),
  })
const plain = (...prices: readonly string[]) => tableOf({ price: prices })

it.each([
  ['of a table', plain],
  ['of a preset', google],
])('the given currency is that of a sign which several share: %s', async (_, tableWith) => {
  const { products, open } = await guessText(tableWith('$2,030', '$15'), { currency: 'cad' })
  expect(products).toMatchObject([
    { price: 2030, price_currency_code: 'CAD' },
    { price: 15, price_currency_code: 'CAD' },
  ])
  expect(open.join()).not.toMatch(/currenc/i)
})

it.each([
  ['of a table', plain],
  ['of a preset', google],
])('a sign that several share is asked about: %s', async (_, tableWith) => {
  expect((await guessText(tableWith('$2,030', '$15'))).open.join('\n')).toMatch(
    /"\$".*(?:currencies|several)/,
  )
})

it.each([
  ['of a table', plain],
  ['of a preset', google],
])('the file counts where the user says another currency, and it is asked: %s', async (_, tableWith) => {
  const { products, open } = await guessText(tableWith('20.00 EUR', '15.00 EUR'), { currency: 'CAD' })
  expect(products).toMatchObject([{ price_currency_code: 'EUR' }, { price_currency_code: 'EUR' }])
  expect(open).toContainEqual(expect.stringMatching(/the file says "EUR", and you said CAD/))
})

it('a column of currencies that says another one is asked about', async () => {
  const { products, open } = await guessText(tableOf({ currency: ['EUR', 'EUR'] }), { currency: 'CAD' })
  expect(products).toMatchObject([{ price_currency_code: 'EUR' }, { price_currency_code: 'EUR' }])
  expect(open).toContainEqual(expect.stringMatching(/the file says "EUR", and you said CAD/))
})

it('amounts without a currency are in the given one, beside others', async () => {
  const { products } = await guessText(plain('20.00 EUR', '15.00', '12.00'), { currency: 'EUR' })
  expect(products.map((product) => product?.price_currency_code)).toEqual(['EUR', 'EUR', 'EUR'])
})

it.each([
  ['of a table', plain('20.00', '0.00')],
  ['of a table, written otherwise', plain('20,00 €', '0,- €')],
])('amounts of 0 are asked about: %s', async (_, table) => {
  const { rules } = await guessText(table, { currency: 'EUR' })
  expect(rules.price).toMatchObject({ open: true, comment: expect.stringMatching(/some are 0/) })
})
