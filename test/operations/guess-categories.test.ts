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

it('a mark that may separate categories or levels is said, with the rule for the other of them', async () => {
  const cells = ['Home | Kitchen | Mugs', 'Home | Kitchen | Cups']
  const { rules } = await guessText(tableOf({ Category: cells }))
  const comment = rules.categories?.comment ?? ''
  expect(comment).toMatch(/ For levels: categories: \{ column: Category, separator: "\|", slash: "-" \}$/)
})
