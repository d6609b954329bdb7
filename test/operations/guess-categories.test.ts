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

const [shirts, jeans] = [
  ['Men', 'Shirts'],
  ['Women', 'Jeans'],
]

it.each([' > ', '>', ' -> ', '->', '→', ' » ', ' › ', '::', '/', ' / ', '///', '\\', '>>>'])(
  'finds what stands between levels: %j',
  async (mark) => {
    const { products, rules } = await guessText(
      tableOf({ category: [shirts.join(mark), jeans.join(mark), 'Men'] }),
    )
    expect(products.map((product) => product?.categories)).toEqual([['Men/Shirts'], ['Women/Jeans'], ['Men']])
    expect(rules.categories).not.toHaveProperty('open')
  },
)

it.each(['~', ' - ', '%%', ':'])('asks about %j between words', async (mark) => {
  const { rules } = await guessText(tableOf({ category: [shirts.join(mark), jeans.join(mark), 'Men'] }))
  expect(rules.categories).toMatchObject({ open: true })
  expect(rules.categories?.comment).toMatch(/becomes .* For \w+: categories: \{ column: category, /)
})

it.each([
  ['Men > Shirts|New', 'Women > Jeans'],
  ['Men -> Shirts;New', 'Women -> Jeans;New'],
  ['Men/Shirts &&& New', 'Women/Jeans'],
  ['Men > Shirts || New', 'Women > Jeans'],
  ['Men > Shirts\nNew', 'Women > Jeans'],
  ['Men -> Shirts, New', 'Women -> Jeans, New'],
  ['Men > Shirts, New', 'New'],
])('finds what stands between categories with levels: %j', async (...cells) => {
  const { products, rules } = await guessText(tableOf({ category: cells }))
  expect(products[0]?.categories).toEqual(['Men/Shirts', 'New'])
  expect(rules.categories).not.toHaveProperty('open')
})

it.each([
  [
    ['herren_jacken,neu', 'damen'],
    ['herren_jacken', 'neu'],
  ],
  [
    ['Coats;New', 'New;Shirts'],
    ['Coats', 'New'],
  ],
  [
    ['/coats, /new', '/shirts'],
    ['/coats', '/new'],
  ],
])('finds what stands between categories without levels: %j', async (cells, first) => {
  const { products, rules } = await guessText(tableOf({ category: cells }))
  expect(products[0]?.categories).toEqual(first)
  expect(rules.categories).not.toHaveProperty('open')
})

it('asks where a comma may be part of a name, and not where it counts up', async () => {
  const open = await guessText(tableOf({ category: ['Sofas, Chairs > Wood', 'Men > Shirts'] }))
  expect(open.rules.categories).toMatchObject({ open: true })
  const cells = ['Food, Drinks & Tobacco > Tea', 'Bags, Wallets and Cases > Bags']
  const { products, rules } = await guessText(tableOf({ category: cells }))
  expect(rules.categories).not.toHaveProperty('open')
  expect(products[0]?.categories).toEqual(['Food, Drinks & Tobacco/Tea'])
})

it.each([
  ['beside its last level', { category: ['Shirts', 'Jeans'] }],
  ['beside two of its levels', { category: ['Men', 'Women'], 'Sub category': ['Shirts', 'Jeans'] }],
])('takes the whole path %s', async (_, columns) => {
  const { products } = await guessText(
    tableOf({ ...columns, category_path: [shirts.join(' > '), jeans.join(' > ')] }),
  )
  expect(products.map((product) => product?.categories)).toEqual([['Men/Shirts'], ['Women/Jeans']])
})

it('reads levels within lists', async () => {
  const objects = [shirts, jeans].map((path, row) => ({
    id: row,
    name: `Red cup ${row}`,
    price: 5,
    url: `https://c.example/${row}`,
    image: `https://c.example/${row}.jpg`,
    categories: [path.join(' » '), 'New'],
  }))
  const { products } = await guessText(JSON.stringify(objects))
  expect(products[0]?.categories).toEqual(['Men/Shirts', 'New'])
})
