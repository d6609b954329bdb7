import { describe, expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

/** The products are read on 5 March 2026. */
const price = ['20.00', '20.00', '20.00']

it('a sale price that is not below the price is none', async () => {
  const { products } = await guessText(tableOf({ price, sale_price: ['25.00', '20.00', '15.00'] }))
  expect(products.map((product) => product?.price)).toEqual([20, 20, 15])
  expect(products.map((product) => product?.list_price)).toEqual([undefined, undefined, 20])
})

describe('a sale price counts in its time', () => {
  const sale = ['9.00', '9.00', '']

  it.each([
    ['sale_price', 'sale_start', 'sale_end', ['2026-01-01', '2026-03-01'], ['2026-02-01', '2026-04-01']],
    ['discount-price', 'discount-start-date', 'discount-end-date', ['2026-01-01', ''], ['2026-02-01', '']],
    ['Sale price', 'Date sale price starts', 'Date sale price ends', ['', ''], ['2026-03-04', '2026-03-31']],
    [
      'special_price',
      'special_price_from_date',
      'special_price_to_date',
      ['1/30/26', '3/1/26'],
      ['2/1/26', ''],
    ],
    [
      'Angebotspreis',
      'Angebot von',
      'Angebot bis',
      ['30.01.2026', '01.03.2026'],
      ['01.02.2026', '31.03.2026'],
    ],
    ['Tarif promo', 'Date de début de promo', 'Date de fin de promo', ['', ''], ['28/02/2026', '31/03/2026']],
    [
      'Precio rebajado',
      'Día en que empieza el precio rebajado',
      'Día en que termina el precio rebajado',
      ['2026-01-01 00:00:00', '2026-03-01 00:00:00'],
      ['2026-02-01 00:00:00', '0000-00-00 00:00:00'],
    ],
    ['Kampanjpris', 'Kampanj från', 'Kampanj till', ['2026-01-01', '2026-03-01'], ['2026-02-01', '']],
  ])('%s from %s until %s', async (name, from, until, begins, ends) => {
    const { rules, products } = await guessText(
      tableOf({ price, [name]: sale, [from]: begins, [until]: ends }),
    )
    expect(rules.price?.value).toMatchObject({ during: { [name]: { from, until } } })
    expect(rules.price).not.toHaveProperty('open')
    expect(products.map((product) => product?.price)).toEqual([20, 9, 20])
  })

  it('of one column with both ends', async () => {
    const sale_price_effective_date = ['2026-01-01T00:00+01:00/2026-02-01', '2026-03-01/2026-03-31', '']
    const { rules, products } = await guessText(
      tableOf({ price, sale_price: sale, sale_price_effective_date }),
    )
    expect(rules.price?.value).toMatchObject({ during: { sale_price: 'sale_price_effective_date' } })
    expect(products.map((product) => product?.price)).toEqual([20, 9, 20])
  })

  it('also where no sale has one today', async () => {
    const { rules } = await guessText(tableOf({ price, sale_price: sale, sale_start: [], sale_end: [] }, 3))
    expect(rules.price?.value).toMatchObject({
      during: { sale_price: { from: 'sale_start', until: 'sale_end' } },
    })
  })

  it('and is to be looked at where the day may stand for the month', async () => {
    const { rules } = await guessText(
      tableOf({ price, sale_price: sale, sale_end: ['02/03/2026', '01/12/2026'] }),
    )
    expect(rules.price).toMatchObject({
      value: { date: 'DD/MM/YYYY' },
      open: true,
      comment: expect.stringMatching(/02\/03\/2026 may begin with the month/),
    })
  })

  it('and is left out where nobody can tell the time', async () => {
    const { rules, products } = await guessText(
      tableOf({ price, sale_price: sale, sale_end: ['end of season', 'easter'] }),
    )
    expect(rules.price).toMatchObject({
      value: 'price',
      open: true,
      comment: expect.stringMatching(
        /"sale_price" is left out, since the dates of "sale_end" cannot be read/,
      ),
    })
    expect(products.map((product) => product?.price)).toEqual([20, 20, 20])
  })
})

it('beside a sale price and a regular one there may be a list price, which 0 is not', async () => {
  const { products } = await guessText(
    tableOf({
      price: ['29.00', '119.00', '20.00'],
      'sale price': ['24.00', '', '18.00'],
      'list price': ['34.00', '149.00', '0'],
    }),
  )
  expect(products).toMatchObject([
    { price: 24, list_price: 34 },
    { price: 119, list_price: 149 },
    { price: 18, list_price: 20 },
  ])
})
