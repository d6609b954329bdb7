import { describe, expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

const one = (row: number) => `https://c.example/${row}.jpg`
const two = (row: number) => `https://c.example/${row}-2.jpg`

describe('images in one cell', () => {
  it.each([
    ['bars', '|'],
    ['semicolons', ';'],
    ['commas', ','],
    ['commas and spaces', ', '],
    ['spaces', ' '],
    ['line ends', '\n'],
    ['line ends of Windows', '\r\n'],
  ])('are separated by %s', async (_, mark) => {
    const image = [`${one(0)}${mark}${two(0)}`, one(1), `${one(2)}${mark}${two(2)}`]
    const { rules, products } = await guessText(tableOf({ image }))
    expect(rules.image_url).not.toHaveProperty('open')
    expect(products.map((product) => product?.image_url)).toEqual([one(0), one(1), one(2)])
    expect(products[0]?.alternate_image_urls).toEqual([one(0), two(0)])
  })

  it.each(['|', ';', ', '])('may have blanks in their names, beside %j', async (mark) => {
    const image = [`https://c.example/a 1.jpg${mark}https://c.example/b 2.jpg`, 'https://c.example/c 3.jpg']
    const { rules, products } = await guessText(tableOf({ image, url: ['https://c.example/a b', one(1)] }))
    expect(rules.url).not.toHaveProperty('open')
    expect(products).toMatchObject([
      {
        url: 'https://c.example/a%20b',
        image_url: 'https://c.example/a%201.jpg',
        alternate_image_urls: ['https://c.example/a%201.jpg', 'https://c.example/b%202.jpg'],
      },
      { url: one(1), image_url: 'https://c.example/c%203.jpg' },
    ])
  })

  it('are lists of JSON', async () => {
    const { products } = await guessText(tableOf({ image: [JSON.stringify([one(0), two(0)])] }))
    expect(products).toMatchObject([{ image_url: one(0), alternate_image_urls: [one(0), two(0)] }])
  })

  it('are the first alone where a mark is part of an address', async () => {
    const image = [`https://c.example/1,w_300.jpg,${two(0)}`]
    const { rules, products } = await guessText(tableOf({ image }))
    expect(products).toMatchObject([{ image_url: 'https://c.example/1,w_300.jpg' }])
    expect(rules).not.toHaveProperty('alternate_image_urls')
    expect(rules.image_url).toMatchObject({
      open: true,
      comment: expect.stringMatching(/no one mark separates/),
    })
  })
})

describe('addresses that lack something', () => {
  const shop = { shopUrl: 'https://shop.example/' }

  it('are those of the shop', async () => {
    const table = tableOf({ url: ['/p/1.html'], image: ['/media/1.jpg'] })
    const { rules, open, products } = await guessText(table, shop)
    expect(products).toMatchObject([
      { url: 'https://shop.example/p/1.html', image_url: 'https://shop.example/media/1.jpg' },
    ])
    expect(rules.url).not.toHaveProperty('open')
    expect(open).toContainEqual(expect.stringMatching(/^fields\.image_url: .*"?\/media\/1\.jpg/))
    expect((await guessText(table)).open).toContainEqual(expect.stringMatching(/^fields\.url: /))
  })

  it('have no scheme', async () => {
    const { products } = await guessText(tableOf({ url: ['//c.example/1'], image: ['www.c.example/1.jpg'] }))
    expect(products).toMatchObject([{ url: 'https://c.example/1', image_url: 'https://www.c.example/1.jpg' }])
  })
})

describe('images that no rule finds are to be looked at', () => {
  it.each([
    ['names of files', 'productImageUrl', 'abc~mv2.jpg;def~mv2.jpg'],
    ['a column that is called so', 'Pictures', '4711'],
    ['a column with files', 'Datei', '4711.png'],
  ])('%s', async (_, column, cell) => {
    const { open } = await guessText(tableOf({ image: ['', ''], [column]: [cell, cell] }))
    const hint = new RegExp(`^fields\\.image_url: no column holds the address.*"${column}" may lead to one$`)
    expect(open).toContainEqual(expect.stringMatching(hint))
  })

  it('in lists of objects', async () => {
    const object = { id: '1', name: 'Red cup', url: 'https://c.example/1', price: 20 }
    const { open } = await guessText(JSON.stringify([{ ...object, images: [{ file: '/a.jpg' }] }]))
    expect(open).toContainEqual(expect.stringMatching(/^fields\.image_url: .*"images" may lead to one$/))
  })
})
