import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { guessFeed } from '../../src/operations/guess/guess-feed.ts'
import { tempDir } from '../support/temp-dir.ts'

const given = { shopUrl: undefined, currency: undefined, id: undefined }

/** The lines of two cups: names and cells of the columns that tell about prices and stock. */
async function guessLines(columns: Record<string, readonly [string, string]>) {
  const names = ['sku', 'name', ...Object.keys(columns), 'url', 'image']
  const rowOf = (index: 0 | 1) =>
    [
      `A${index}`,
      ['Red cup', 'Blue cup'][index],
      ...Object.values(columns).map((cells) => cells[index]),
      `https://c.example/${index}`,
      `https://c.example/${index}.jpg`,
    ].join(';')
  await using dir = await tempDir('guess')
  const file = dir.join('export.csv')
  await writeFile(file, `${names.join(';')}\n${rowOf(0)}\n${rowOf(1)}\n`)
  const { lines } = await guessFeed({ file, given, signal: AbortSignal.timeout(240_000) })
  const lineOf = (field: string) => lines.find(({ key }) => key === `fields.${field}`)
  return {
    price: lineOf('price'),
    list: lineOf('list_price'),
    stock: lineOf('inventory_level'),
    availability: lineOf('availability'),
  }
}

describe('the price', () => {
  it.each([
    ['Prix HT', 'Prix TTC'],
    ['Preis netto', 'Preis (EUR)'],
    ['price_excl_vat', 'Price'],
  ])('is with tax: of %s and %s', async (net, gross) => {
    const { price } = await guessLines({ [net]: ['10.00', '20.00'], [gross]: ['12.00', '24.00'] })
    expect(price?.value).toBe(gross)
  })

  it.each<[string, Record<string, readonly [string, string]>, RegExp]>([
    [
      'another column may be it',
      { VK: ['12.00', '9.50'], Preis: ['11.00', '8.50'] },
      /"Preis" may be it too/,
    ],
    ['tax is not in it', { 'Prix HT': ['12.00', '9.50'] }, /tax is not in it/],
    ['a mark may mean both', { price: ['10.500', '2.250'] }, /three decimals/],
  ])('is to be looked at where %s', async (_, columns, reason) => {
    const { price } = await guessLines(columns)
    expect(price).toMatchObject({ open: true, comment: expect.stringMatching(reason) })
  })

  it('is not whether there is an offer, nor a sale price of 0', async () => {
    const price = ['10.00', '20.00'] as const
    expect((await guessLines({ price, oferta: ['0', '1'] })).price?.value).toBe('price')
    const { price: line } = await guessLines({ price, sale_price: ['0.00', '15.00'] })
    expect(line?.value).toMatchObject({ column: ['sale_price', 'price'], pattern: expect.any(String) })
    const { pattern } = (line as { value: { pattern: string } }).value
    const leftOf = (cell: string) => new RegExp(pattern).exec(cell)?.[1]
    expect(['0', '0.00', '0,00 €', '.00'].map(leftOf)).toEqual(['', '', '', ''])
    expect(['15.00', '0.50', '100', '0,05 €'].map(leftOf)).toEqual(['15.00', '0.50', '100', '0,05 €'])
  })
})

describe('the list price', () => {
  const list = ['29.90', '39.90'] as const
  const own = ['19.90', '29.90'] as const

  it.each([
    ['UVP', 'VK brutto'],
    ['UVP', 'Brutto-VK'],
    ['msrp', 'our_price_usd'],
    ['list_price_gross', 'price_gross'],
    ['rrp', 'price_with_vat'],
    ['rrp', 'PRICE_VAT'],
    ['prix conseillé', 'Tarif régulier'],
    ['precio recomendado', 'Precio normal'],
    ['rek. pris', 'Normalpris'],
    ['marketPrice', 'price'],
    ['MRP', 'price'],
    ['Strike price', 'price'],
    ['compare_at', 'price'],
    ['crossed_price', 'price'],
    ['prix_avant', 'prix'],
    ['Vejl. pris', 'pris'],
    ['cena doporučená', 'cena s dph'],
    ['Preis bisher', 'Preis'],
  ])('stands beside the price: %s and %s', async (before, now) => {
    const { price, list: line } = await guessLines({ [before]: list, [now]: own })
    expect(price).toMatchObject({ value: now })
    expect(price).not.toHaveProperty('open')
    expect(line?.value).toEqual({ column: before, above: 'price' })
  })

  it.each([
    ['highest', ['29.90', '29.90']],
    ['Tarif B', ['30.00', '']],
    ['amount_2', ['30', '31']],
  ] as const)('may be a second amount that is never below the price: %s', async (name, cells) => {
    const { price, list: line } = await guessLines({ price: own, [name]: cells })
    expect(price).toMatchObject({ value: 'price' })
    expect(line).toMatchObject({ value: { column: name, above: 'price' }, open: true })
  })

  it.each([
    ['purchase price', ['29.90', '39.90']],
    ['dealer_price', ['29.90', '39.90']],
    ['B', ['29.90', '9.90']],
    ['weight', ['29.90', '39.90']],
    ['PVP', ['29.90', '39.90']],
    ['Price USD', ['29.90', '39.90']],
    ['C', ['2990.00', '39.90']],
    ['D', ['30', '31']],
  ] as const)('is nothing else: %s %j', async (name, cells) => {
    const { list: line } = await guessLines({ price: own, [name]: cells })
    expect(line).toBeUndefined()
  })

  it('is not taken for the price where another column speaks of an amount', async () => {
    const { price, list: line } = await guessLines({ UVP: list, 'Preis Webshop': own })
    expect(price).toMatchObject({
      value: 'Preis Webshop',
      open: true,
      comment: expect.stringMatching(/is it what the product costs/),
    })
    expect(line?.value).toMatchObject({ column: 'UVP' })
  })

  it.each([
    ['alone', {}],
    ['beside what the shop pays', { 'Preis Einkauf': own }],
    ['beside what costs more', { 'Preis Webshop': ['49.90', '59.90'] as const }],
  ])('is to be looked at where it stands %s', async (_, others) => {
    const { price } = await guessLines({ UVP: list, ...others })
    expect(price).toMatchObject({
      value: 'UVP',
      open: true,
      comment: expect.stringMatching(/name is that of a list price/),
    })
  })
})

describe('an amount under a name of its own', () => {
  it('may be the price', async () => {
    const { price } = await guessLines({ webshopPriceSE: ['19.90', '29.90'] })
    expect(price).toMatchObject({ value: 'webshopPriceSE', open: true })
  })

  it('is none in cents', async () => {
    await expect(guessLines({ price_cents: ['1990', '2990'] })).rejects.toThrow(/the price of a product/)
  })
})

describe('pieces', () => {
  it.each([
    ['12,50', '3,000', '0,000'],
    ['12,50', '3,00', '0,00'],
  ])('are read as the prices are: beside %s are %s', async (price, some, none) => {
    const { stock, availability } = await guessLines({ price: [price, price], stock: [some, none] })
    expect(stock?.value).toEqual({ column: 'stock', decimal: ',' })
    expect(availability?.value).toMatchObject({ column: 'stock', decimal: ',', otherwise: 'InStock' })
  })
})
