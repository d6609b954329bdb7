import { describe, expect, it } from 'vitest'
import { problemsOf, read, withFeed } from './support.ts'

const ean = '{ variation_id: EAN, price: Price }'

describe('key', () => {
  it.each(['variation_id', 'custom_fields.ean', 'skus.id', 'url'])('%s finds products', async (key) => {
    const { loaded } = await read(withFeed(`key: ${key}\nfields: { ${key}: EAN, price: Price }`))
    const feeds = [...loaded.config.catalogs.values()].flatMap((catalog) => [...catalog.feeds.values()])
    expect(feeds.map((feed) => feed.key)).toEqual([key])
  })

  it.each<[string, RegExp]>([
    [`key: product_id\nfields: ${ean}`, /key: found "product_id", which names the id itself; map product_id/],
    [`key: variaton_id\nfields: ${ean}`, /key: found "variaton_id", which is no field.*mean variation_id/],
    [`key: tag1\nfields: { product_id: a, tag1: b }`, /key: found "tag1", which is no single text/],
    [`key: variation_id`, /fields\.variation_id: is missing, expected the column that holds variation_id/],
    [
      `key: variation_id\nfields: { product_id: a, variation_id: b }`,
      /fields\.product_id: found beside key, expected one of them/,
    ],
    [
      `key: skus.id\nfields: { skus.id: { value: x } }`,
      /fields\["skus\.id"\]: a constant skus\.id would be one product/,
    ],
    [`key: variation_id\nfields: ${ean}\nowns: [variation_id]`, /owns\[0\]: .*is its key/],
  ])('%s is a problem', async (lines, expected) => {
    const problems = await problemsOf(withFeed(lines))
    expect(problems.join('\n')).toMatch(expected)
  })

  it('means nothing in a feed of consents', async () => {
    const problems = await problemsOf(withFeed('kind: consents\nkey: email'))
    expect(problems.join('\n')).toMatch(/key: has no meaning in a feed of kind consents/)
  })
})
