import { expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

const image = (name: string | number) => `https://c.example/i/${name}.jpg`

function xmlOf(images: readonly string[]): string {
  const items = images.map((own, index) => {
    return `<o id="${index + 1}"><name>Red cup</name><url>https://c.example/${index}</url><price>5</price>${own}</o>`
  })
  return `<offers>${items.join('')}</offers>`
}

it('takes the main image, and those beside it as further ones', async () => {
  const { products, rules } = await guessText(
    xmlOf([
      `<imgs><main url="${image(1)}"/><i url="${image(2)}"/><i url="${image(3)}"/></imgs>`,
      `<imgs><main url="${image(4)}"/></imgs>`,
      `<imgs><i url="${image(6)}"/><main url="${image(5)}"/></imgs>`,
    ]),
  )
  expect(products).toMatchObject([
    { image_url: image(1), alternate_image_urls: [image(2), image(3)] },
    { image_url: image(4) },
    { image_url: image(5), alternate_image_urls: [image(6)] },
  ])
  expect(rules.image_url).not.toHaveProperty('open')
})

it('takes one further image of each record, as where none has two', async () => {
  const { products } = await guessText(
    xmlOf([1, 2].map((row) => `<imgs><main url="${image(row)}"/><i url="${image(`${row}b`)}"/></imgs>`)),
  )
  expect(products).toMatchObject([
    { image_url: image(1), alternate_image_urls: [image('1b')] },
    { image_url: image(2), alternate_image_urls: [image('2b')] },
  ])
})

it.each([
  ['numbered', ['image', 'image_2', 'image_3']],
  ['numbered in Spanish', ['URLimagen_1', 'URLimagen_2', 'URLimagen_3']],
  ['of other names', ['image_link', 'additional_imageurl', 'photo 2']],
])('takes further images of columns of their own: %s', async (_, [main = '', second = '', third = '']) => {
  const { products, open } = await guessText(
    tableOf({
      image: ['', ''],
      [main]: [image(1), image(4)],
      [second]: [image(2), ''],
      [third]: [image(3), ''],
    }),
  )
  expect(products).toMatchObject([{ image_url: image(1) }, { image_url: image(4) }])
  expect(products[0]?.alternate_image_urls).toEqual([image(2), image(3)])
  expect(open.join()).not.toMatch(/image/)
})

it.each(['&&', '||', '|', ';', ',', ' , ', ' ', '\n', '~', '^', ' && ', '##', ';;'])(
  'takes what %j separates in one cell',
  async (mark) => {
    const { products, rules } = await guessText(
      tableOf({ image: [[1, 2, 3].map(image).join(mark), image(4), [5, 6].map(image).join(mark)] }),
    )
    expect(products).toMatchObject([
      { image_url: image(1), alternate_image_urls: [1, 2, 3].map(image) },
      { image_url: image(4) },
      { image_url: image(5), alternate_image_urls: [5, 6].map(image) },
    ])
    expect(rules.image_url).not.toHaveProperty('open')
  },
)

it('takes a list and single columns together', async () => {
  const { products } = await guessText(
    tableOf({ image: [image(1)], images: [`${image(2)};${image(3)}`], 'image 4': [image(4)] }),
  )
  expect(products[0]?.alternate_image_urls).toEqual([image(2), image(3), image(4)])
})

it.each([
  ['a column of its own', 'label_image', image('label')],
  ['the logo of the brand', 'Brand logo', image('logo')],
  ['JSON with objects', 'media', JSON.stringify([{ url: image(7) }])],
  ['names of files', 'Datei', 'cup.jpg'],
])('names what else holds images: %s', async (_, column, cell) => {
  const { open, products } = await guessText(tableOf({ [column]: [cell, cell] }))
  expect(open).toContainEqual(
    expect.stringMatching(new RegExp(`alternate_image_urls: .*"${column}" holds images`)),
  )
  expect(products[0]).not.toHaveProperty('alternate_image_urls')
})

it('names lists of objects that hold images and are left out', async () => {
  const objects = [1, 2].map((row) => ({
    id: row,
    name: 'Red cup',
    price: 5,
    url: `https://c.example/${row}`,
    image: image(row),
    reviews: [{ photo: image('r1') }, { photo: image('r2') }],
  }))
  const { open } = await guessText(JSON.stringify(objects))
  expect(open).toContainEqual(expect.stringMatching(/"reviews\.photo" holds images/))
})
