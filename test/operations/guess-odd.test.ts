import { describe, expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

it.each(['sku,name,price\n', 'id\ttitle\tlink\timage_link\tprice\tavailability\n'])(
  'a header alone holds no records: %j',
  async (header) => {
    await expect(guessText(header)).rejects.toThrow(/it holds no records below its \d columns/)
  },
)

it('ids that a spreadsheet has cut are to be looked at, and their rows are several products', async () => {
  const { rules } = await guessText(tableOf({ sku: ['4,00638E+12', '4,00638E+12', '4,00639E+12'] }))
  expect(rules.product_id).toMatchObject({
    open: true,
    comment: expect.stringMatching(/a spreadsheet has cut ids such as 4,00638E\+12/),
  })
  expect(rules).not.toHaveProperty('group')
})

describe('amounts for a preset that are written in several ways', () => {
  const rows = ['12.00 EUR', 'EUR 9,00', '7.50 EUR', 'EUR 3,20'].map(
    (price, row) => `${row},T,https://c.example/${row},https://c.example/${row}.jpg,in stock,"${price}"\n`,
  )

  it('have their currency all the same, and are to be looked at', async () => {
    const { rules, open } = await guessText(`id,title,link,image_link,availability,price\n${rows.join('')}`)
    expect(rules.preset?.value).toBe('google-merchant')
    expect(rules).not.toHaveProperty('currency')
    expect(open).toEqual([
      expect.stringMatching(/^the marks of amounts are mixed, such as "12.00 EUR", "EUR 9,00"/),
    ])
  })
})
