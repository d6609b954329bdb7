import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

const table = tableOf({ brand: ['Acme', 'Acme'] })

it.each([
  ['a title', 'Our products\n', 2],
  ['a title, a date and a blank line', 'Our products\nExported on 2026-03-05\n\n', 4],
  ['comments with as many cells', '#INFO;Version=1.0;;;;\n#INFO;Say Add or Revise;;;;\n', 3],
])('says where the header stands below %s', async (_, above, line) => {
  await expect(guessText(above + table)).rejects.toMatchObject({
    message: expect.stringMatching(new RegExp(`above its header, which looks to be line ${line}: sku, name`)),
    hint: expect.stringMatching(/delete the lines above the header/),
  })
})

it('takes a header in the first line for what it is', async () => {
  const { products } = await guessText(table)
  expect(products).toHaveLength(2)
})
