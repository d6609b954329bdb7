import { describe, expect, it } from 'vitest'
import { guessText, tableOf } from './guess-support.ts'

type Columns = Record<string, readonly string[]>

async function availabilities(columns: Columns) {
  const { rules, products } = await guessText(tableOf(columns))
  const { availability, inventory_level } = rules
  return { availability, inventory_level, found: products.map((product) => product?.availability) }
}

describe('what can be sold', () => {
  it.each<[string, Columns, readonly string[]]>([
    ['letters', { stock: ['Y', 'N', 'Y'] }, ['InStock', 'OutOfStock', 'InStock']],
    ['bounds', { stock: ['>10', '0', '5+'] }, ['InStock', 'OutOfStock', 'InStock']],
    [
      'words for pieces',
      { Bestand: ['auf Lager', 'ausverkauft', 'auf Lager'] },
      ['InStock', 'OutOfStock', 'InStock'],
    ],
    [
      'words and pieces',
      { inventory: ['InStock', '3', '0', '-2'] },
      ['InStock', 'InStock', 'OutOfStock', 'OutOfStock'],
    ],
    [
      'words and more than is counted',
      { stock: ['in stock', '10+', 'Unlimited', 'sold out'] },
      ['InStock', 'InStock', 'InStock', 'OutOfStock'],
    ],
    ['words in a status', { status: ['in_stock', 'out_of_stock'] }, ['InStock', 'OutOfStock']],
  ])('is told by %s', async (_, columns, expected) => {
    const { availability, found } = await availabilities(columns)
    expect(found).toEqual(expected)
    expect(availability).not.toHaveProperty('open')
  })

  it.each<[string, Columns, RegExp]>([
    [
      'English',
      { Availability: ['In Stock', 'Out of Stock', 'Ships in 3 days'] },
      /meant by "Ships in 3 days"/,
    ],
    ['German', { Lieferstatus: ['ausverkauft', 'auf Lager', '2-3 Werktage'] }, /meant by "2-3 Werktage"/],
  ])('is asked of a word that is not known, which rejects its record: %s', async (_, columns, question) => {
    const { availability, found } = await availabilities(columns)
    expect(found).toContain('OutOfStock')
    expect(found[2]).toBeUndefined()
    expect(availability).toMatchObject({ open: true, comment: expect.stringMatching(question) })
  })

  it('is asked of words that are not known at all, which reject nothing', async () => {
    const { availability, found } = await availabilities({
      availability: ['sofort', 'bald', 'später', 'nie'],
    })
    expect(found).toEqual(['InStock', 'InStock', 'InStock', 'InStock'])
    expect(availability).toMatchObject({
      open: true,
      comment: expect.stringMatching(
        /"availability" says it in words that are not known, such as "sofort", "bald"/,
      ),
    })
  })

  it('is asked of a column of pieces that holds other words', async () => {
    const { availability } = await availabilities({ Bestand: ['A', 'B'] })
    expect(availability).toMatchObject({ open: true, comment: expect.stringMatching(/"Bestand" says it/) })
  })

  it('is told by the pieces where the words are not known', async () => {
    const { availability, found } = await availabilities({
      availability: ['sofort', 'bald'],
      stock: ['3', '0'],
    })
    expect(found).toEqual(['InStock', 'OutOfStock'])
    expect(availability).toMatchObject({
      open: true,
      comment: expect.stringMatching(/"availability" says it/),
    })
  })

  it('is asked of nobody only where no column has a name for it', async () => {
    const { availability } = await availabilities({ colour: ['red', 'blue'] })
    expect(availability).toMatchObject({ open: true, comment: expect.stringMatching(/^no column says so/) })
  })
})

describe('a flag is no number of pieces', () => {
  it.each<[string, Columns, string]>([
    ['where it asks', { '¿Existencias?': ['1', '0'], Inventario: ['25', '0'] }, 'Inventario'],
    ['beside one', { Stock: ['1', '0'], Quantity: ['25', '0'] }, 'Quantity'],
  ])('%s', async (_, columns, column) => {
    const { availability, inventory_level } = await availabilities(columns)
    expect(inventory_level?.value).toBe(column)
    expect(availability?.value).toMatchObject({ words: 'availability' })
  })
})

describe('what is hidden', () => {
  it.each<[string, Columns]>([
    ['status', { status: ['active', 'disabled', 'active'] }],
    ['Publicado', { Publicado: ['1', '0', '1'] }],
    ['Actif (0/1)', { 'Actif (0/1)': ['1', '0', '1'] }],
    ['État', { État: ['Activé', 'Désactivé', 'Activé'] }],
    ['Product Visible?', { 'Product Visible?': ['Y', 'N', 'Y'] }],
    ['Aktiv', { Aktiv: ['Ja', 'Nein', 'Ja'] }],
    ['Visibility', { Visibility: ['both', 'none', 'catalog'] }],
    ['Publicerad, beside a status', { Publicerad: ['ja', 'nej', 'ja'], status: ['live', 'live', 'live'] }],
  ])('is invisible: %s', async (_, columns) => {
    const stock = ['3', '4', '0']
    expect((await availabilities({ ...columns, stock })).found).toEqual([
      'InStock',
      'Invisible',
      'OutOfStock',
    ])
    expect((await availabilities(columns)).found).toEqual(['InStock', 'Invisible', 'InStock'])
  })

  it('is what no longer has the word of what is shown, and nothing but that', async () => {
    const stock = ['', '3']
    const { availability, found } = await availabilities({ Aktiv: ['Y', 'Y'], stock })
    expect(found).toEqual(['OutOfStock', 'InStock'])
    expect(availability).toMatchObject({ value: { where: { Aktiv: ['Y'] }, default: 'Invisible' } })
    const { availability: places } = await availabilities({ Visibility: ['both', 'both'] })
    expect(places).toMatchObject({ value: { where: { Visibility: { not: ['none', 'hidden'] } } } })
  })

  it('is asked where a word is not known', async () => {
    const stock = ['3', '4', '0']
    const { availability, found } = await availabilities({ status: ['active', 'P', 'draft'], stock })
    expect(found).toEqual(['InStock', 'InStock', 'Invisible'])
    expect(availability).toMatchObject({
      open: true,
      comment: expect.stringMatching(/is a product shown whose "status" is "P"\?/),
    })
  })

  it('is nothing where the column says the same of all, or when something was published', async () => {
    const stock = ['3', '4']
    for (const cells of [
      ['new', 'new'],
      ['2024-01-01', '2024-02-03'],
    ]) {
      const { availability } = await availabilities({ published: cells, stock })
      expect(availability?.value).not.toHaveProperty('where')
      expect(availability).not.toHaveProperty('open')
    }
  })
})
