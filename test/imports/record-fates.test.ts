import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { feed, openImports, row } from './harness.ts'

const feeds = `products: { drop: ./products, missing: { action: ignore }, rejects: { atMost: 100% } }
prices: { drop: ./prices, mode: delta, fields: { product_id: sku, price: price }, owns: [price], rejects: { atMost: 100% } }`
const ids = ['a', 'b', 'c', 'd']

const id = fc.constantFrom(...ids)
/** `x` is no price. */
const record = fc.record({ id, price: fc.constantFrom('1', '2', '3', 'x'), text: fc.constantFrom('t', 'u') })
const file = fc.record({
  of: fc.constantFrom('products' as const, 'prices' as const),
  mode: fc.constantFrom('full' as const, 'delta' as const),
  records: fc.array(record, { minLength: 1, maxLength: 8 }),
})

test('what became of the records of a file sums up to its records, and is what can be seen', async () => {
  const files = fc.array(file, { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(files, async (plan) => {
      await using box = await openImports(feeds)
      const read = () => {
        const stored = box.mirror.read(ids as ProductId[])
        return new Map(ids.map((each) => [each, stored.get(each as ProductId)]))
      }
      const hasPrice = new Set<string>()
      for (const { of, mode, records } of plan) {
        const before = read()
        const lines =
          of === 'products'
            ? feed(...records.map((each) => row(each.id, each)))
            : `sku,price\n${records.map((each) => `${each.id},${each.price}\n`).join('')}`
        const report = await box.import(of, lines, { mode: of === 'products' ? mode : 'delta' })
        const { became, overridden = [] } = report
        const after = read()
        const documentOf = (known: typeof after, each: string) => known.get(each)?.document?.toString()
        // What the last record of each id says.
        const last = [...new Map(records.map((each) => [each.id, each])).values()]
        const counting = last.filter(({ price }) => price !== 'x')
        const skipped = became?.skipped ?? -1
        const priceOf = (each: string) => JSON.parse(documentOf(after, each) ?? '{}').price
        const differs = counting.filter(
          (each) => of === 'products' && hasPrice.has(each.id) && Number(each.price) !== priceOf(each.id),
        )
        const isChanged = (each: { id: string }) => documentOf(before, each.id) !== documentOf(after, each.id)
        const overriddenOnly = differs.filter((each) => !isChanged(each))
        expect(Object.values(became ?? {}).reduce((sum, count) => sum + count, 0)).toBe(report.records)
        expect(Object.values(became ?? {}).every((count) => count >= 0)).toBe(true)
        expect(became).toMatchObject({
          changed: counting.filter(isChanged).length,
          incomplete: counting.filter((each) => documentOf(after, each.id) === undefined).length,
          rejected: records.filter(({ price }) => price === 'x').length,
          superseded: records.filter((each) => each.price !== 'x' && !last.includes(each)).length,
          notApplied: 0,
        })
        // A record that is known is not looked into: what it said was counted with an earlier file.
        if (skipped === 0) {
          expect(became?.overridden).toBe(overriddenOnly.length)
          const counted =
            differs.length === 0 ? [] : [{ field: 'price', by: 'prices', records: differs.length }]
          expect(overridden).toEqual(counted)
        }
        if (of === 'prices') for (const each of counting) hasPrice.add(each.id)
      }
    }),
    { numRuns: 40 },
  )
})

test('a file that is held as a whole has applied none of its records', async () => {
  await using box = await openImports(
    'products: { drop: ./drop, fields: { product_id: sku, name: name, url: link, image_url: link, availability: { value: InStock }, price: Price, price_currency_code: { value: EUR }, brand: maker } }',
  )
  const report = await box.import('products', 'sku,name,link,Price\na,A,https://s.example/a,1\n')
  expect(report).toMatchObject({ outcome: 'held', became: { notApplied: 1, changed: 0, unchanged: 0 } })
})
