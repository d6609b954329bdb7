import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ProductField } from '../../src/api/contract/product.ts'
import { mergePatch } from '../../src/catalog/merge.ts'
import type { ProductPatch, ProductState } from '../../src/catalog/model.ts'
import { decodeOrigins, originOf, originsAfter } from '../../src/catalog/origins.ts'
import type { FieldRanks } from '../../src/catalog/ranks.ts'
import { noFields } from '../../src/catalog/wire-order.ts'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'

const fields = ['name', 'price', 'availability', 'brand', 'supplier_cost'] as const
const feeds = ['one', 'two', 'three'] as FeedName[]
/** The first feed writes name, the second price; whoever stands first writes the rest. */
const ranks: FieldRanks = {
  overlaps: [],
  writer: () => feeds[0],
  countsMissing: () => true,
  rank: (field, feed) => (field === 'price' && feed === 'two' ? -1 : feeds.indexOf(feed)),
}

const patch = fc.record({
  feed: fc.constantFrom(...feeds),
  set: fc.dictionary(fc.constantFrom(...fields), fc.integer({ min: 1, max: 3 }), { minKeys: 1 }),
  clear: fc.uniqueArray(fc.constantFrom(...fields)),
})

it('each field comes from the last record in which its feed spoke of it, and hides what others said last', () => {
  fc.assert(
    fc.property(fc.array(patch, { maxLength: 12 }), (steps) => {
      let state: ProductState | undefined
      let text: string | undefined
      const spoken = new Map<string, number>()
      const values = new Map<string, unknown>()
      for (const [at, { feed, set, clear }] of steps.entries()) {
        const cleared = clear.filter((field) => set[field] === undefined) as ProductField[]
        // As records give it: what they do not say is undefined.
        const said = { ...noFields, ...set }
        const step: ProductPatch = { productId: 'a' as ProductId, set: said, clear: cleared }
        const next = mergePatch({ state, patch: step, feed, ranks })
        const origin = { import: at + 1, line: 10 * at }
        text = originsAfter(text, { feed, patch: step, origin, state, next }).text
        for (const field of [...Object.keys(set), ...cleared]) {
          spoken.set(`${feed} ${field}`, at + 1)
          values.set(`${feed} ${field}`, set[field as keyof typeof set])
        }
        state = next
      }
      const origins = decodeOrigins(text)
      // However many records came: what a newer one speaks of is no longer noted of an older one.
      for (const { records } of origins.values()) {
        const masks = records.flatMap(({ mask }) => mask ?? [])
        expect(masks.reduce((sum, mask) => sum + mask, 0)).toBe(masks.reduce((all, mask) => all | mask, 0))
      }
      for (const field of fields)
        for (const feed of feeds) {
          const key = `${feed} ${field}`
          const isWriter = state?.writers[field] === feed
          const hidden = origins.get(feed)?.hidden[field]
          const value =
            field === 'supplier_cost' && values.get(key) !== undefined ? '(hidden)' : values.get(key)
          expect(hidden).toEqual(isWriter ? undefined : value)
          if (isWriter || hidden !== undefined)
            expect(originOf(origins.get(feed), field)?.import).toBe(spoken.get(key))
        }
    }),
  )
})
