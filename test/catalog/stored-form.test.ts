import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ProductField, productFields, productSchema } from '../../src/api/contract/product.ts'
import { mergePatch } from '../../src/catalog/merge.ts'
import type { ProductState } from '../../src/catalog/model.ts'
import { rankFields } from '../../src/catalog/ranks.ts'
import {
  composeDocument,
  decodeState,
  encodeMeta,
  encodeMetaOfPatch,
  feedsOf,
  metaFields,
  storedForm,
  storedFormOfPatch,
} from '../../src/catalog/stored-form.ts'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'

const productId = 'P1' as ProductId
const products = 'products' as FeedName

const complete: ProductState['fields'] = {
  name: 'n',
  url: 'https://shop.example/p1',
  image_url: 'https://shop.example/p1.jpg',
  availability: 'InStock',
  price: 5,
  price_currency_code: 'EUR',
}

function stateOf(fields: ProductState['fields'], missing = false): ProductState {
  const writers = Object.fromEntries(Object.keys(fields).map((field) => [field, products]))
  const names = new Set([products])
  return { fields, writers, feeds: missing ? new Set() : names, missingFrom: missing ? names : new Set() }
}

describe('wire documents', () => {
  it('have their keys in contract order, the id first', () => {
    const fields = { skus: [{ id: '1' }], brand: 'é', ...complete }
    const composed = composeDocument(stateOf(fields), productId)
    if (composed.kind !== 'complete') throw new Error('incomplete')
    const expected = `{"product_id":"P1","name":"n","url":"https://shop.example/p1","image_url":"https://shop.example/p1.jpg","availability":"InStock","price":5,"price_currency_code":"EUR","brand":"é","skus":[{"id":"1"}]}`
    expect(composed.bytes.toString()).toBe(expected)
    expect(composed.document).toEqual(JSON.parse(expected))
  })

  it('wait until all required fields are there', () => {
    const { price, name, ...rest } = complete
    expect(composeDocument(stateOf(rest), productId)).toEqual({
      kind: 'incomplete',
      missing: ['name', 'price'],
    })
    expect(storedForm(stateOf(rest), composeDocument(stateOf(rest), productId)).incomplete).toBe('name,price')
  })

  it('are out of stock everywhere while a feed misses the product', () => {
    const fields = {
      ...complete,
      variations: { EU: { price: 5 }, US: { availability: 'InStock', price: 6 } },
      skus: [
        { id: '1', availability: 'OutOfStock' },
        { id: '2', name: 'x', inventory_level: 3 },
      ],
    }
    const composed = composeDocument(stateOf(fields, true), productId)
    if (composed.kind !== 'complete') throw new Error('incomplete')
    expect(composed.document.availability).toBe('OutOfStock')
    expect(JSON.stringify(composed.document.variations)).toBe(
      '{"EU":{"availability":"OutOfStock","price":5},"US":{"availability":"OutOfStock","price":6}}',
    )
    expect(JSON.stringify(composed.document.skus)).toBe(
      '[{"id":"1","availability":"OutOfStock"},{"id":"2","name":"x","availability":"OutOfStock","inventory_level":3}]',
    )
    expect(Object.keys(composed.document)).toEqual(
      productFields.filter((field) => field in composed.document),
    )
    expect(productSchema.safeParse(composed.document).success).toBe(true)
    expect(fields.availability).toBe('InStock')
  })
})

describe('stored forms', () => {
  it('hold what the document does not, and no more', () => {
    const form = (state: ProductState) => storedForm(state, composeDocument(state, productId))
    expect(form(stateOf(complete)).partial).toBeUndefined()
    expect(form(stateOf(complete, true)).partial?.toString()).toBe('{"availability":"InStock"}')
    expect(form(stateOf({ ...complete, availability: 'OutOfStock' }, true)).partial).toBeUndefined()
    const incomplete = form(stateOf({ name: 'n' }))
    expect([incomplete.document, incomplete.partial?.toString()]).toEqual([undefined, '{"name":"n"}'])
  })

  it('have a short meta for an ordinary product, whatever the order of feeds', () => {
    const all = Object.fromEntries(metaFields.map((field) => [field, 'x'])) as ProductState['fields']
    expect(encodeMeta(stateOf(all)).length).toBeLessThanOrEqual(16)
    expect(encodeMeta(stateOf(complete))).toBe('products=1r')
    const [a, b] = ['a' as FeedName, 'b' as FeedName]
    const state = {
      fields: {},
      writers: { price: b },
      feeds: new Set([b, a]),
      missingFrom: new Set<FeedName>(),
    }
    expect(encodeMeta(state)).toBe('a= b=g')
    expect(feedsOf('a! b=g')).toEqual({ feeds: new Set([b]), missingFrom: new Set([a]) })
    expect(() => feedsOf('what is this')).toThrow(/cannot be read/)
  })

  it('give every field of the contract one lasting bit', () => {
    expect([...metaFields].sort()).toEqual(productFields.filter((field) => field !== 'product_id').sort())
    expect(new Set(metaFields).size).toBe(metaFields.length)
    // A change of this order would read stored products wrongly; new fields are appended.
    expect(metaFields.slice(0, 7).join()).toBe(
      'name,url,image_url,availability,price,price_currency_code,list_price',
    )
    expect(metaFields.slice(20).join()).toBe('variations,inventory_level,supplier_cost,custom_fields,skus')
  })

  const name = fc
    .constantFrom('products', 'stock', 'a b', 'x=1', 'y!', 'z?', 'ü')
    .map((text) => text as FeedName)

  it('are the same for what is new, made without a state', () => {
    const fieldsOf = fc.record(
      Object.fromEntries(metaFields.map((field) => [field, fc.constantFrom('x', 5, '"', {}, ['é', '–'])])),
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        fieldsOf,
        fc.boolean(),
        fc.subarray([...metaFields]),
        name,
        (some, isComplete, cleared, feed) => {
          const set = isComplete ? { ...complete, ...some } : some
          const patch = { productId, set, clear: cleared.filter((field) => set[field] === undefined) }
          const state = mergePatch({ state: undefined, patch, feed, ranks: rankFields(new Map()) })
          const composed = composeDocument({ fields: set }, productId)
          expect(composed).toEqual(composeDocument(state, productId))
          const meta = encodeMetaOfPatch(patch, feed)
          expect(storedFormOfPatch({ set, meta }, composed)).toEqual(storedForm(state, composed))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('read back as the state that was stored', () => {
    const availability = fc.constantFrom('InStock', 'OutOfStock')
    const member = fc.record({ availability, price: fc.integer() }, { requiredKeys: [] })
    const values: Partial<Record<ProductField, fc.Arbitrary<unknown>>> = {
      availability,
      variations: fc.dictionary(fc.stringMatching(/^[a-z0-9]{1,4}$/), member),
      skus: fc.array(member),
      price: fc.integer(),
    }
    const fieldsOf = fc.record(
      Object.fromEntries(metaFields.map((field) => [field, values[field] ?? fc.string()])),
      { requiredKeys: [] },
    )
    const writersOf = fc.record(Object.fromEntries(metaFields.map((field) => [field, name])), {
      requiredKeys: [],
    })
    fc.assert(
      fc.property(
        fieldsOf,
        fc.boolean(),
        writersOf,
        fc.uniqueArray(name),
        fc.nat(7),
        (some, isComplete, writers, names, split) => {
          const fields = isComplete ? { ...complete, ...some } : some
          const [feeds, missingFrom] = [new Set(names.slice(split)), new Set(names.slice(0, split))]
          const state: ProductState = { fields: { ...fields }, writers: { ...writers }, feeds, missingFrom }
          const composed = composeDocument(state, productId)
          const form = storedForm(state, composed)
          const read = decodeState(form)
          expect(read).toEqual(state)
          expect(storedForm(read, composeDocument(read, productId))).toEqual(form)
        },
      ),
      { numRuns: 500 },
    )
  })
})
