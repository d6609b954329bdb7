import { describe, expect, it } from 'vitest'
import { feed, openImports, row } from './harness.ts'

const feedsWith = (settings: string) =>
  `products: { drop: ./a, ${settings}, files: { full: "*.csv" }, missing: { atMost: 100% }, rejects: { atMost: 100% } }`

/** The last cell names another row, or none. */
const rows = (...parents: [id: string, parent: string][]) =>
  feed(...parents.map(([id, parent]) => row(id, { text: parent })))

describe('products of several rows that stood in the last full file', () => {
  it('are known when all their rows are as they were', async () => {
    await using box = await openImports(feedsWith('group: true'))
    const [a, b] = [
      [row('a'), row('a', { text: 'more' })],
      [row('b'), row('b', { text: 'more' })],
    ]
    await box.import('products', feed(...a, ...b))
    const changed = await box.import('products', feed(...b, row('a'), row('a', { text: 'less' })))
    expect(changed).toMatchObject({ records: 2, skipped: { records: 1 }, unchanged: 2 })
    const longer = await box.import('products', feed(...b, ...a, row('b', { name: 'B' })))
    expect(longer).toMatchObject({ records: 2, skipped: { records: 0 } })
    const shorter = await box.import('products', feed(row('b'), ...a))
    expect(shorter).toMatchObject({ records: 2, skipped: { records: 1 } })
    const swapped = await box.import('products', feed(row('b'), ...a.toReversed()))
    expect(swapped).toMatchObject({ records: 2, skipped: { records: 1 } })
    const first = await box.import(
      'products',
      feed(row('b'), row('a', { text: 'more', price: '11' }), row('a')),
    )
    expect(first).toMatchObject({ records: 2, skipped: { records: 1 }, changes: { changed: 1 } })
  })

  it('are not known when the same rows make other products', async () => {
    await using box = await openImports(feedsWith('group: { parent: description }'))
    await box.import('products', rows(['a', ''], ['b', ''], ['c', 'a'], ['d', 'b']))
    const same = await box.import('products', rows(['b', ''], ['a', ''], ['c', 'a'], ['d', 'b']))
    expect(same).toMatchObject({ records: 2, skipped: { records: 2 } })
    // The row c is as it was: without its parent it is a product.
    const orphaned = await box.import('products', rows(['b', ''], ['c', 'a'], ['d', 'b']))
    expect(orphaned).toMatchObject({ records: 2, skipped: { records: 1 }, changes: { added: 1 } })
    expect(await box.document('c')).toMatchObject({ name: 'Name c' })
    expect(await box.document('a')).toMatchObject({ availability: 'OutOfStock' })
  })

  it('are not known when another row makes them doubtful', async () => {
    await using box = await openImports(feedsWith('group: { parent: description, names: [name] }'))
    const product = [row('a', { text: '' }), row('c', { text: 'Name a' })]
    await box.import('products', feed(...product, row('b', { text: '' })))
    const report = await box.import('products', feed(...product, row('b', { text: '', name: 'Name a' })))
    expect(report).toMatchObject({ records: 2, warned: 1, skipped: { records: 0 } })
  })
})

describe('elements that stood in the last full file', () => {
  const fields = 'product_id name url image_url availability price_currency_code'.split(' ')
  const settings = `format: { type: xml, path: feed/item }, fields: { ${fields.map((name) => `${name}: ${name}`).join(', ')}, price: "g:price" }`
  const item = (id: string) =>
    `<item><product_id>${id}</product_id><name>${id}</name><url>https://shop.example/${id}</url><image_url>https://shop.example/${id}.jpg</image_url><availability>InStock</availability><price_currency_code>EUR</price_currency_code><x:price>5</x:price></item>`
  const google = 'http://base.google.com/ns/1.0'

  it('are known when all that they inherit is as it was, too', async () => {
    await using box = await openImports(feedsWith(settings))
    const document = (uri: string, ...ids: string[]) =>
      `<feed xmlns:x="${uri}"><about>today</about>\n${ids.map(item).join('\n')}\n</feed>`
    await box.import('products', document(google, 'a', 'b'))
    const same = await box.import('products', document(google, 'b', 'c', 'a'))
    expect(same).toMatchObject({ records: 3, skipped: { records: 2 }, changes: { added: 1 } })
    const other = await box.import('products', document('urn:other', 'b', 'c', 'a'))
    expect(other).toMatchObject({ records: 3, skipped: { records: 0 } })
  })
})
