import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

it('makes a text of a cell that holds a JSON list of texts', async () => {
  const description = [JSON.stringify(['Soft', '9" wide\nand warm']), '[]', JSON.stringify(['Café'])]
  const { products } = await guessText(tableOf({ description }))
  expect(products.map((product) => product?.description)).toEqual([
    'Soft\n9" wide\nand warm',
    undefined,
    'Café',
  ])
})

it('leaves out a description that holds objects of JSON', async () => {
  const description = [JSON.stringify([{ type: 'text', text: 'Soft' }]), JSON.stringify({ a: 1 })]
  const { products, rules } = await guessText(tableOf({ description }))
  expect(products[0]).not.toHaveProperty('description')
  expect(rules['']?.comment).toMatch(/not used: "description"/)
})

it.each([
  ['category_tree', [JSON.stringify(['Home', 'Cups & mugs']), '["Home"]'], ['Home/Cups & mugs']],
  ['categories', [JSON.stringify(['Cups', 'Sale']), '["Home"]'], ['Cups', 'Sale']],
])('asks what the texts of %s are', async (column, cells, categories) => {
  const { products, rules } = await guessText(tableOf({ [column]: cells }))
  expect(products[0]?.categories).toEqual(categories)
  expect(rules.categories).toMatchObject({ open: true })
})
