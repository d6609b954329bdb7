import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ProductField } from '../../src/api/contract/product.ts'
import type { ProductPatch } from '../../src/catalog/model.ts'
import { planChunk, planRulesOf } from '../../src/imports/plan-chunk.ts'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'
import type { StoredProduct } from '../../src/mirror/model.ts'
import { columnRule, feedOf } from '../catalog/support.ts'

const productId = 'P1' as ProductId
const [products, stock] = ['products', 'stock'] as [FeedName, FeedName]

const required = ['name', 'url', 'image_url', 'availability', 'price', 'price_currency_code'] as const
const others = ['brand', 'tag1', 'custom_fields', 'skus'] as const
const value = fc.constantFrom<unknown>(
  'x',
  'y–',
  5,
  ['a', 'b'],
  ['a'],
  { a: '1', b: '2' },
  { b: '2', a: '1' },
  [{ id: '1', price: 2 }],
)

const patch = fc
  .tuple(
    fc.record(Object.fromEntries(required.map((field) => [field, value]))),
    fc.boolean(),
    fc.record(Object.fromEntries(others.map((field) => [field, value])), { requiredKeys: [] }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([all, isWhole, some, clears, announces]): ProductPatch => {
    const set: ProductPatch['set'] = { ...(isWhole ? all : { name: all.name }), ...some }
    const rest = others.filter((field) => some[field] === undefined)
    const clear: ProductField[] = clears ? [...rest] : []
    return {
      productId,
      set,
      clear,
      ...(announces ? { later: [{ at: 5, set: { price: 9 }, clear: [] }] } : {}),
    }
  })
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ feed: fc.constant(products), patch }) },
  { weight: 1, arbitrary: fc.record({ feed: fc.constant(stock), patch }) },
  {
    weight: 1,
    arbitrary: fc.record({ feed: fc.constantFrom(products, stock), missing: fc.constant(productId) }),
  },
)

it('a product of one feed is planned as any other, only quicker', () => {
  const fields = Object.fromEntries([...required, ...others].map((field) => [field, columnRule(field)]))
  const feeds = new Map([products, stock].map((name) => [name, feedOf(fields, { name })]))
  const rules = planRulesOf({ feeds, urgent: ['price'] })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      let stored = new Map<ProductId, StoredProduct>()
      for (const { feed, ...one } of steps) {
        const plan = (keyFields: string[]) => planChunk({ ...rules, steps: [one], stored, feed, keyFields })
        const quick = plan([])
        // A feed that finds products by a field has to know what stood in it: every product takes all steps then.
        const { writes, ...whole } = plan(['variation_id'])
        expect(quick).toEqual({ writes, ...whole })
        stored = new Map<ProductId, StoredProduct>([
          ...stored,
          ...writes.map((write) => [write.productId, write] as const),
        ])
      }
    }),
    { numRuns: 2_000 },
  )
})
