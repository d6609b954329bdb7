import { describe, expect, it } from 'vitest'
import { diffDocuments } from '../../src/catalog/diff.ts'
import type { ProductDocument } from '../../src/catalog/model.ts'
import { showValue } from '../../src/catalog/show-value.ts'
import type { ProductId } from '../../src/lib/brand.ts'

const productId = 'P1' as ProductId
const urgent = ['price', 'list_price', 'price_currency_code', 'availability', 'inventory_level']

function diff(
  before: ProductDocument | undefined,
  after: ProductDocument,
  options: { missing?: boolean; urgent?: string[]; isUndelivered?: boolean } = {},
) {
  return diffDocuments({
    productId,
    before,
    after,
    urgent: options.urgent ?? urgent,
    missing: options.missing ?? false,
    isUndelivered: options.isUndelivered,
  })
}

describe('the diff of two documents', () => {
  it('tells new products from changed and missing ones', () => {
    expect(diff(undefined, { price: 1 })).toEqual({ productId, kind: 'added', fields: [], lane: 'new' })
    expect(diff({ price: 1, tag1: ['a'] }, { price: 1, tag1: ['a'] })).toBeUndefined()
    expect(diff({ price: 1 }, { price: 2 })?.kind).toBe('changed')
    expect(diff({ availability: 'InStock' }, { availability: 'OutOfStock' }, { missing: true })).toEqual({
      productId,
      kind: 'missing',
      fields: [{ field: 'availability', before: 'InStock', after: 'OutOfStock' }],
      lane: 'urgent',
    })
  })

  it('lets an edit put off no product that the endpoint has never had', () => {
    const lane = (after: ProductDocument, isUndelivered: boolean) =>
      diff({ name: 'a', price: 1 }, after, { isUndelivered })?.lane
    expect([lane({ name: 'b', price: 1 }, false), lane({ name: 'b', price: 1 }, true)]).toEqual([
      'deferred',
      'new',
    ])
    expect(lane({ name: 'b', price: 2 }, true)).toBe('urgent')
  })

  it.each<[string, ProductDocument, ProductDocument, string, [string, unknown, unknown][]]>([
    ['a text', { description: 'a' }, { description: 'b' }, 'deferred', [['description', 'a', 'b']]],
    [
      'a price',
      { name: 'a', price: 1 },
      { name: 'b', price: 2 },
      'urgent',
      [
        ['name', 'a', 'b'],
        ['price', 1, 2],
      ],
    ],
    ['a field that comes', {}, { brand: 'b' }, 'deferred', [['brand', undefined, 'b']]],
    ['a field that goes', { list_price: 5 }, {}, 'urgent', [['list_price', 5, undefined]]],
    ['a list', { tag1: ['a'] }, { tag1: ['a', 'b'] }, 'deferred', [['tag1', ['a'], ['a', 'b']]]],
    [
      'a custom field',
      { custom_fields: { price: '1', x: 'y' } },
      { custom_fields: { price: '2', x: 'y' } },
      'deferred',
      [['custom_fields.price', '1', '2']],
    ],
    [
      'a variation',
      { variations: { EU: { price: 1 }, US: { price: 2 } } },
      { variations: { EU: { price: 3 }, US: { price: 2 } } },
      'urgent',
      [['variations.EU.price', 1, 3]],
    ],
    [
      'a variation that comes',
      {},
      { variations: { EU: { price: 1 } } },
      'urgent',
      [['variations.EU', undefined, { price: 1 }]],
    ],
    ['no variations any more', { variations: {} }, {}, 'deferred', [['variations', {}, undefined]]],
    [
      'a SKU, in another place of the list',
      {
        skus: [
          { id: '1', name: 'a' },
          { id: '2', name: 'b' },
        ],
      },
      {
        skus: [
          { id: '2', name: 'c' },
          { id: '1', name: 'a' },
        ],
      },
      'deferred',
      [['skus[2].name', 'b', 'c']],
    ],
    [
      'the stock of a SKU',
      { skus: [{ id: '1', inventory_level: 1 }] },
      { skus: [{ id: '1', inventory_level: 0 }] },
      'urgent',
      [['skus[1].inventory_level', 1, 0]],
    ],
    [
      'a SKU with a price that goes',
      { skus: [{ id: '1', price: 1 }, { id: '2' }] },
      { skus: [{ id: '2' }] },
      'urgent',
      [['skus[1]', { id: '1', price: 1 }, undefined]],
    ],
    [
      'a SKU without a price that comes',
      { skus: [] },
      { skus: [{ id: '1', name: 'a' }] },
      'deferred',
      [['skus[1]', undefined, { id: '1', name: 'a' }]],
    ],
    [
      'the order of SKUs alone',
      { skus: [{ id: '1', price: 1 }, { id: '2' }] },
      { skus: [{ id: '2' }, { id: '1', price: 1 }] },
      'deferred',
      [['skus', [{ id: '1', price: 1 }, { id: '2' }], [{ id: '2' }, { id: '1', price: 1 }]]],
    ],
    [
      'SKUs without ids, in a text',
      { skus: [{ price: 1, name: 'a' }] },
      { skus: [{ price: 1, name: 'b' }] },
      'deferred',
      [['skus', [{ price: 1, name: 'a' }], [{ price: 1, name: 'b' }]]],
    ],
    [
      'SKUs without ids, in a price',
      { skus: [{ price: 1 }] },
      { skus: [{ price: 2 }] },
      'urgent',
      [['skus', [{ price: 1 }], [{ price: 2 }]]],
    ],
    ['an empty list that comes', {}, { skus: [] }, 'deferred', [['skus', undefined, []]]],
  ])('finds %s', (_what, before, after, lane, fields) => {
    const change = diff(before, after)
    expect(change?.lane).toBe(lane)
    expect(change?.fields.map(({ field, before: old, after: next }) => [field, old, next])).toEqual(fields)
  })

  it('takes any change in a field that is urgent as a whole', () => {
    const [before, after] = [{ skus: [{ id: '1', name: 'a' }] }, { skus: [{ id: '1', name: 'b' }] }]
    expect(diff(before, after, { urgent: ['skus'] })?.lane).toBe('urgent')
    expect(
      diff({ custom_fields: { a: '1' } }, { custom_fields: { a: '2' } }, { urgent: ['custom_fields'] })?.lane,
    ).toBe('urgent')
  })
})

describe('values for people', () => {
  it.each<[string, unknown, string]>([
    ['price', 5, '5'],
    ['name', 'a "b"\nc', '"a \\"b\\"\\nc"'],
    ['price', undefined, '(none)'],
    ['tag1', ['a'], '["a"]'],
    ['supplier_cost', 5, '(hidden)'],
    ['supplier_cost', undefined, '(none)'],
    ['skus[1].supplier_cost', 5, '(hidden)'],
    ['custom_fields.supplier_cost', 'text', '"text"'],
    ['product', { price: 1, supplier_cost: 5 }, '{"price":1,"supplier_cost":"(hidden)"}'],
  ])('%s: %j is shown as %s', (field, value, expected) => {
    expect(showValue(field, value)).toBe(expected)
  })

  it('are short', () => {
    expect(showValue('description', 'x'.repeat(10_000_000))).toHaveLength(80)
    expect(showValue('tag1', Array(1_000).fill('x'))).toHaveLength(80)
  })
})
