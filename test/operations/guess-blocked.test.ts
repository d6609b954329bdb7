import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

it.each([
  ['Gesperrt', ['0', '1', '0']],
  ['Gesperrt', ['nein', 'ja', 'nein']],
  ['Sperrkennzeichen', ['', 'X', '']],
  ['blocked', ['false', 'true', 'false']],
  ['Inactive', ['no', 'yes', 'no']],
  ['is_deleted', ['', '1', '']],
  ['zablokowany', ['nie', 'tak', 'nie']],
  ['status', ['active', 'draft', 'active']],
  ['Aktiv', ['J', 'N', 'J']],
])('what blocks a product hides it: %s %j', async (column, cells) => {
  const { products } = await guessText(tableOf({ stock: ['3', '4', '0'], [column]: cells }))
  expect(products.map((product) => product?.availability)).toEqual(['InStock', 'Invisible', 'OutOfStock'])
})

it('what nothing is blocked by today counts tomorrow', async () => {
  const { rules } = await guessText(tableOf({ stock: ['3', '4'], Gesperrt: ['', ''] }))
  expect(rules.availability?.value).toMatchObject({ where: { Gesperrt: [''] }, default: 'Invisible' })
})

it('a word that nobody knows is asked about', async () => {
  const { rules } = await guessText(tableOf({ stock: ['3', '4', '5'], blocked: ['', 'Q3', 'none'] }))
  expect(rules.availability).toMatchObject({
    open: true,
    comment: expect.stringMatching(/whose "blocked" is "Q3"/),
  })
})

it('a preset that does not look at it asks', async () => {
  const rows = ['a', 'b']
  const { open } = await guessText(
    tableOf({
      id: rows,
      title: rows,
      link: rows.map((row) => `https://c.example/${row}`),
      image_link: rows.map((row) => `https://c.example/${row}.jpg`),
      price: ['5.00 EUR', '6.00 EUR'],
      availability: ['in stock', 'vielleicht'],
      status: ['active', 'archived'],
    }),
  )
  expect(open).toContainEqual(expect.stringMatching(/"status" is not looked at/))
  expect(open).toContainEqual(expect.stringMatching(/what is meant by "vielleicht"/))
})
