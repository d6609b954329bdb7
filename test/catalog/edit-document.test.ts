import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ProductField } from '../../src/api/contract/product.ts'
import { editDocument } from '../../src/catalog/edit-document.ts'
import { markMissing, mergePatch } from '../../src/catalog/merge.ts'
import type { ProductPatch, ProductState } from '../../src/catalog/model.ts'
import { originsAfter, overriddenBy } from '../../src/catalog/origins.ts'
import type { FieldRanks } from '../../src/catalog/ranks.ts'
import { composeDocument, decodeState, storedForm } from '../../src/catalog/stored-form.ts'
import { noFields } from '../../src/catalog/wire-order.ts'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'

const productId = 'a "quoted" id' as ProductId
const feeds = ['products', 'prices', 'stock'] as FeedName[]
/** `prices` writes amounts, `stock` whether there is any; no feed maps tag3 any more. */
const ranks: FieldRanks = {
  overlaps: [],
  writer: (field) => (field === 'tag3' ? undefined : feeds[0]),
  countsMissing: () => true,
  rank: (field, feed) => {
    const owner = field === 'price' ? 'prices' : field === 'availability' ? 'stock' : 'products'
    return feed === owner ? -1 : feeds.indexOf(feed)
  },
}

const required = {
  name: 'Tent',
  url: 'https://shop.example/tent',
  image_url: 'https://shop.example/tent.jpg',
  availability: 'InStock',
  price: 10,
  price_currency_code: 'EUR',
}

/** What looks like a field of the product and is none. */
const text = fc.constantFrom('', 'plain', '"price":1,', '},{"price":2', 'a\\"b\\', '–€ü\u2028', '{"', '[[')
const inner = fc.dictionary(fc.constantFrom('price', 'name', 'x"y', '__proto__'), fc.oneof(text, fc.nat(3)))
const values: Partial<Record<ProductField, fc.Arbitrary<unknown>>> = {
  name: text,
  price: fc.constantFrom(1, 2.5, 1e21, 0),
  availability: fc.constantFrom('InStock', 'OutOfStock'),
  categories: fc.array(text, { maxLength: 2 }),
  tag3: fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: text }),
  variations: fc.dictionary(fc.constantFrom('EU', 'price'), inner, { maxKeys: 2 }),
  custom_fields: inner,
}
const fields = Object.keys(values) as ProductField[]

const patch = fc.record({
  feed: fc.constantFrom(...feeds),
  set: fc.record(values as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] }),
  clear: fc.array(fc.constantFrom(...fields), { maxLength: 1, size: 'xsmall' }),
  keepEntries: fc.option(fc.constant(['price']), { nil: undefined, freq: 8 }),
  announces: fc.integer({ min: 0, max: 19 }).map((number) => number === 0),
  isMissing: fc.integer({ min: 0, max: 19 }).map((number) => number === 0),
})

it('editing a document gives the same bytes and the same notes as merging', () => {
  let edited = 0
  let steps = 0
  fc.assert(
    fc.property(fc.array(patch, { minLength: 6, maxLength: 20 }), (given) => {
      let state: ProductState | undefined
      let origins: string | undefined
      for (const [at, { feed, set, clear, keepEntries, announces, isMissing }] of given.entries()) {
        if (isMissing && state) {
          state = markMissing(state, feed)
          continue
        }
        const first = state ? {} : required
        const step: ProductPatch = {
          productId,
          set: { ...noFields, ...first, ...set },
          clear: clear.filter((field) => at % 3 === 2 && set[field] === undefined),
          ...(keepEntries && { keepEntries }),
          ...(announces && { later: [{ at: 1, set: { price: 3 }, clear: [] }] }),
        }
        const origin = { import: at, line: at }
        const next = mergePatch({ state, patch: step, feed, ranks })
        const noted = originsAfter(origins, { feed, patch: step, origin, state, next })
        const before = state && storedForm(state, composeDocument(state, productId))
        const found = before && editDocument(before, { patch: step, feed, ranks })
        steps += 1
        if (found) {
          edited += 1
          const composed = composeDocument(next, productId)
          const form = storedForm(next, composed)
          expect(found.bytes.toString()).toBe(form.document?.toString())
          expect(form).toEqual({ ...before, document: form.document })
          expect(overriddenBy(step, feed, found.next)).toEqual(overriddenBy(step, feed, next))
          const others = { feed, patch: step, origin, state: undefined, next: found.next }
          expect(originsAfter(origins, others)).toEqual(noted)
        }
        // As it is read from the mirror.
        state = decodeState(storedForm(next, composeDocument(next, productId)))
        origins = noted.text
      }
    }),
    { numRuns: 1_000 },
  )
  expect(edited).toBeGreaterThan(steps / 50)
})
