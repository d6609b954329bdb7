import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

it('characters by name are characters, not marks of lists', async () => {
  const { products } = await guessText(
    tableOf({
      name: ['Cup &amp; Saucer', 'Mug'],
      url: ['https://c.example/?a=1&amp;b=2', 'https://c.example/?a=2&amp;b=2'],
      category: ['Home &gt; Cups', 'Home &gt; Mugs &amp; More'],
    }),
  )
  expect(products).toMatchObject([
    { name: 'Cup & Saucer', url: 'https://c.example/?a=1&b=2', categories: ['Home/Cups'] },
    { name: 'Mug', categories: ['Home/Mugs & More'] },
  ])
})

it('a category without one below it stays', async () => {
  const { products, rules } = await guessText(
    tableOf({ Category: ['Home', 'Home', ''], Subcategory: ['', 'Chairs', ''] }),
  )
  expect(products.map((product) => product?.categories)).toEqual([['Home'], ['Home/Chairs'], undefined])
  expect(rules['']?.comment ?? '').not.toContain('Subcategory')
})

it('levels with bars between them are one path where the name says so', async () => {
  const { products, rules } = await guessText(tableOf({ CATEGORYTEXT: ['Home | Cups', 'Home'] }))
  expect(products.map((product) => product?.categories)).toEqual([['Home/Cups'], ['Home']])
  expect(rules.categories).not.toHaveProperty('open')
})

it('a mark that may separate categories or levels is said, with the rule for the other of them', async () => {
  const commentOf = async (cells: readonly string[]) => {
    const { rules } = await guessText(tableOf({ Category: cells }))
    return rules.categories?.comment ?? ''
  }
  expect(await commentOf(['Mugs | Sale', 'Sale | Cups'])).toMatch(
    / For levels: categories: \{ column: Category, separator: "\|", slash: "-" \}$/,
  )
  expect(await commentOf(['Home | Kitchen | Mugs', 'Home | Kitchen | Cups'])).toMatch(
    / For several: categories: \{ column: Category, separator: ">", slash: "-", split: "\|" \}$/,
  )
})

it.each([
  [
    'one path where each always stands below the same',
    ['Home | Cups', 'Home | Mugs'],
    [['Home/Cups'], ['Home/Mugs']],
  ],
  [
    'several where they stand in any order',
    ['Cups | Sale', 'Sale | Mugs'],
    [
      ['Cups', 'Sale'],
      ['Sale', 'Mugs'],
    ],
  ],
])('bars are asked about: %s', async (_, cells, categories) => {
  const { products, rules } = await guessText(tableOf({ category: cells }))
  expect(products.map((product) => product?.categories)).toEqual(categories)
  expect(rules.categories).toMatchObject({ open: true })
})

it('takes three levels of three columns', async () => {
  const { products } = await guessText(
    tableOf({ 'Category 1': ['Home', 'Home'], 'Category 2': ['Kitchen', ''], 'Category 3': ['Cups', ''] }),
  )
  expect(products.map((product) => product?.categories)).toEqual([['Home/Kitchen/Cups'], ['Home']])
})
