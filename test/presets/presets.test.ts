import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { listPresets } from '../../src/config/preset-file.ts'
import { guessFeed } from '../../src/operations/guess/guess-feed.ts'
import { guessText } from '../operations/guess-support.ts'
import { tempDir } from '../support/temp-dir.ts'
import { loadFeed, readFeed, readPreset } from './read-preset.ts'

const shop = 'shopUrl: https://shop.example\ncurrency: EUR'
const comma = 'decimal: ","\nthousands: "."'
/** Beside each fixture stands what comes of it on the fifth of March 2026: documents by id (or what is missing), and issues. */
const cases: readonly (readonly [preset: string, fixture: string, lines: string])[] = [
  ['google-merchant', 'google-rss.xml', ''],
  ['google-merchant', 'google-atom.xml', ''],
  ['google-merchant', 'google-table.tsv', comma],
  ['google-merchant', 'google-odd.xml', ''],
  ['google-merchant', 'google-odd-atom.xml', ''],
  ['shopify', 'shopify-export.csv', shop],
  ['shopify', 'shopify-new.csv', shop],
  ['shopify', 'shopify-odd.csv', shop],
  ['woocommerce', 'woocommerce-en.csv', shop],
  ['woocommerce', 'woocommerce-odd.csv', shop],
  ['woocommerce', 'woocommerce-de.csv', `${shop}\n${comma}`],
  ['magento', 'magento-configurable.csv', shop],
  ['magento', 'magento-simple.csv', shop],
  ['magento', 'magento-types.csv', shop],
  ['magento', 'magento-odd.csv', shop],
  ['prestashop', 'prestashop-products.csv', shop],
  ['prestashop', 'prestashop-list.csv', shop],
  ['prestashop-combinations', 'prestashop-combinations.csv', ''],
  ['native', 'native.ndjson', ''],
]
const now = '2026-03-05T00:00Z'

const pathOf = (fixture: string) => fileURLToPath(new URL(`fixtures/${fixture}`, import.meta.url))

describe('presets', () => {
  it('are all tried', () => {
    expect([...new Set(cases.map(([preset]) => preset))].sort()).toEqual(listPresets())
  })

  it.each(cases)('%s makes of %s what it should', async (preset, fixture, lines) => {
    const { documents, issues } = await readPreset(preset, fixture, { lines, now })
    const expected: unknown = JSON.parse(await readFile(pathOf(`${fixture}.json`), 'utf8'))
    expect({ issues, documents }).toEqual(expected)
  })

  it.each(cases.filter(([, fixture]) => !/combinations|native/.test(fixture)))(
    '%s is recognised by the columns of %s',
    async (preset, fixture, lines) => {
      const guess = await guessed(pathOf(fixture))
      expect(guess.preset).toBe(preset)
      const asked = guess.lines.filter(({ open, key }) => open && key !== 'shopUrl' && key !== 'currency')
      const unknown = [expect.stringMatching(/what is meant by "perhaps"/)]
      expect(asked.map(({ comment }) => comment)).toEqual(fixture === 'google-rss.xml' ? unknown : [])
      const marks = guess.lines.filter(({ key }) => key === 'decimal' || key === 'thousands')
      expect(marks.map(({ value }) => value)).toEqual(lines.includes(comma) ? [',', '.'] : [])
    },
  )

  it.each([
    ['id,title,link,price', '1,Cup,https://s.example/1,5.00'],
    ['ID,SKU,Name,Price', '1,A,Cup,5.00'],
    ['Title,Handle,Amount,Price', 'Cup,cup,4,5.00'],
    ['sku,name,price,qty,visibility', 'A,Cup,5.00,3,yes'],
  ])('none is taken for %s', async (header, row) => {
    await using dir = await tempDir('presets')
    await writeFile(dir.join('own.csv'), `${header}\n${row}\n`)
    expect((await guessed(dir.join('own.csv'))).preset).toBeUndefined()
  })
})

describe('prices that change at their time', () => {
  it.each([
    ['google-merchant', 'google-rss.xml', '', 'HO-1', '2026-03-01T21:00Z', 99, 129, 129],
    ['woocommerce', 'woocommerce-en.csv', shop, 'HOODIE', '2026-03-01T00:00Z', 35, 42, 42],
    ['magento', 'magento-configurable.csv', shop, 'MS', '2026-03-01T00:00Z', 29, 34, 32],
  ])('of %s', async (preset, fixture, lines, id, from, sale, before, regular) => {
    const { documents, later } = await readPreset(preset, fixture, { lines, now: '2026-02-01' })
    expect(documents[id]).toMatchObject({ price: regular })
    expect(documents[id]).not.toHaveProperty('list_price')
    expect(later[id]).toMatchObject([
      { at: Date.parse(from), set: { price: sale, list_price: before } },
      { set: { price: regular }, clear: ['list_price'] },
    ])
  })
})

describe('any line can be overridden', () => {
  it('a rule, a field that goes, a column name and the rows', async () => {
    const lines = `${shop}
fields:
  name: { template: "{Vendor} {Title}" }
  skus: none
  tag2: Type
missing: { action: ignore }`
    const { documents } = await readPreset('shopify', 'shopify-new.csv', { lines })
    expect(documents.mug).toMatchObject({ name: 'Clayworks Mug', tag2: ['Mugs'], price: 14.5 })
    expect(documents.mug).not.toHaveProperty('skus')
  })

  it.each([
    [
      'shopify',
      'Handle,Title,Image Src,Variant Price,Variant Compare At Price,Variant SKU',
      'A,Cup,,"1.012,50","1.500,00",S',
      true,
    ],
    [
      'magento',
      'sku,store_view_code,visibility,product_type,name,url_key,base_image,price,special_price,special_price_from_date,special_price_to_date',
      'A,,,simple,Cup,cup,,"1.500,00","1.012,50",,',
      false,
    ],
    ['native', 'product_id,price,list_price', 'A,"1.012,50","1.500,00"', false],
  ])('the marks of numbers of %s', async (preset, header, row, hasSkus) => {
    await using dir = await tempDir('presets')
    await writeFile(dir.join('own.csv'), `${header}\n${row}\n`)
    const feed = await loadFeed(`preset: ${preset}\n${shop}\n${comma}\nmissing: { action: ignore }`)
    const { said } = await readFeed(feed, dir.join('own.csv'))
    const prices = { price: 1012.5, list_price: 1500 }
    expect(said.A).toMatchObject(hasSkus ? { ...prices, skus: [prices] } : prices)
  })

  it('what counts as in stock', async () => {
    const lines = `fields:
  availability: { column: "g:availability", words: availability, when: { preorder: InStock }, rows: any }`
    const { documents } = await readPreset('google-merchant', 'google-rss.xml', { lines })
    expect(documents['HO-2']).toMatchObject({ availability: 'InStock' })
  })

  it('shopify takes the text of products as Matrixify calls it', async () => {
    const text =
      'Handle,Title,Body HTML,Image Src,Variant Price\ncup,Cup,<p>Red</p>,https://c.example/1.jpg,5.00\n'
    const { products } = await guessText(text, { shopUrl: 'https://c.example', currency: 'EUR' })
    expect(products).toMatchObject([{ product_id: 'cup', description: 'Red' }])
  })
})

function guessed(file: string) {
  const given = { shopUrl: undefined, currency: undefined, id: undefined }
  return guessFeed({ file, given, signal: AbortSignal.timeout(240_000) })
}
