import { describe, expect, it } from 'vitest'
import { guessText } from './guess-support.ts'

const rows = [
  '4711;Desk lamp Lumo;https://shop.example/lumo;https://shop.example/lumo.jpg;129,00;EUR;12;Home',
  '4712;Desk lamp Nord;https://shop.example/nord;https://shop.example/nord.jpg;1.149,50;EUR;0;Home',
  '4713;Chair oak;https://shop.example/oak;https://shop.example/oak.jpg;99,00;EUR;5;Garden',
]

describe('a table without a header', () => {
  it('becomes a configuration with numbered columns, all of them to be looked at', async () => {
    const { products, open, rules } = await guessText(`${rows.join('\n')}\n`)
    expect(products).toEqual([
      expect.objectContaining({
        product_id: '4711',
        name: 'Desk lamp Lumo',
        price: 129,
        inventory_level: 12,
      }),
      expect.objectContaining({ product_id: '4712', price: 1149.5, availability: 'OutOfStock' }),
      expect.objectContaining({ product_id: '4713', image_url: 'https://shop.example/oak.jpg' }),
    ])
    expect(open[0]).toBe('format: its first line looks like data: its columns are numbered, from 1')
    expect(open).toContain('column 8 is not used: it holds "Home", "Garden"')
    const fields = Object.entries(rules).filter(([key]) => !['', 'changes'].includes(key))
    expect(fields.filter(([, { open }]) => !open)).toEqual([])
  })

  it('says which of the columns that matter it does not find', async () => {
    const { products, open } = await guessText('4711,12,3.50\n4712,13,4.50\n', { currency: 'EUR' })
    expect(products).toMatchObject([{ product_id: '4711', price: 3.5 }, { product_id: '4712' }])
    expect(open).toContain('fields.name: which column is it?')
    expect(open.join()).not.toContain('price_currency_code')
  })

  it.each([
    ['names in a header', 'sku;name;url;image;price;2024'],
    ['names that nobody knows', 'x1;x2;x3;x4;x5;x6;x7;x8'],
  ])('is none with %s', async (_, header) => {
    const guess = await guessText(`${header}\n${rows.join('\n')}\n`).catch(String)
    expect(JSON.stringify(guess)).not.toContain('looks like data')
  })
})
