import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { Change } from '../../src/catalog/model.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import { diffFile } from '../../src/operations/diff-file.ts'
import { feed, openImports, row } from '../imports/harness.ts'

const feeds = `products: { drop: ./products, missing: { atMost: 100% } }
prices: { drop: ./prices, key: brand, fields: { brand: Brand, price: Price }, owns: [price], missing: { atMost: 100% } }`
const prices = (...rows: string[]) => `Brand;Price\n${rows.map((text) => `${text}\n`).join('')}`

test('diff finds products by the key of the feed, with the index and before there is one', async () => {
  await using box = await openImports(feeds)
  const rows = ['a', 'b', 'c', 'd'].map((id) => `${row(id)},brand-${id === 'd' ? 'c' : id}`)
  await box.import('products', feed(...rows).replace('description\n', 'description,brand\n'))
  await box.import('prices', prices('brand-a;1', 'brand-b;2'))
  const file = box.dir.join('prices.csv')
  await writeFile(file, prices('brand-b;3', 'brand-c;4', 'brand-z;5'))
  const diffNow = async () => {
    const changes: Change[] = []
    const diff = await diffFile({
      catalog: box.catalog,
      feed: box.catalog.feeds.get('prices' as FeedName) as never,
      file,
      dir: box.dir.path,
      mirror: box.mirror,
      nowMs: Date.now(),
      signal: new AbortController().signal,
      onChange: (change) => changes.push(change),
    })
    return { diff, changes: changes.map(({ productId, kind }) => `${productId} ${kind}`) }
  }
  const withIndex = await diffNow()
  expect(withIndex.diff).toMatchObject({
    records: 3,
    rejected: 2,
    unchanged: 0,
    changes: { changed: 1, missing: 1 },
  })
  expect(withIndex.changes).toEqual(['b changed', 'a missing'])
  await box.mirror.update([], () => ({ writes: [], keyFields: { drop: ['brand'] } }))
  expect(await diffNow()).toEqual(withIndex)
  expect(box.mirror.keyFields()).toEqual([])
})
