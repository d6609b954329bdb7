import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { type Product, type ProductField, requiredFields } from '../../../src/api/contract/product.ts'

// Half of a surrogate pair does not survive UTF-8, so it cannot be sent at all.
const text = fc.string({ unit: 'binary', maxLength: 30 })
const filled = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 })
const amount = fc.double({ noNaN: true, noDefaultInfinity: true })
const wholeNumber = fc.maxSafeInteger()
const url = fc.webUrl({ withQueryParameters: true, withFragments: true, size: 'small' })
const level = fc.stringMatching(/^[\p{L}\d&,.' -]{0,12}[\p{L}\d]$/u)
const categoryPath = fc
  .tuple(fc.constantFrom('', '/'), fc.array(level, { minLength: 1, maxLength: 4 }))
  .map(([root, levels]) => root + levels.join('/'))
const date = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((day) => day.toISOString().slice(0, 10))
const key = filled.filter((name) => name !== '__proto__')
const texts = fc.array(text, { maxLength: 4 })
const customFields = fc.dictionary(key, text, { maxKeys: 4 })

const variation = fc.record(
  { price_currency_code: text, availability: filled, price: amount, list_price: amount },
  { requiredKeys: [] },
)

const sku = fc.record(
  {
    id: text,
    name: text,
    price: amount,
    list_price: amount,
    url,
    image_url: url,
    availability: filled,
    inventory_level: wholeNumber,
    custom_fields: customFields,
  },
  { requiredKeys: [] },
)

/** Any product that the contract allows. */
export const arbitraryProduct: fc.Arbitrary<Product> = fc.record(
  {
    product_id: filled,
    name: filled,
    url,
    image_url: url,
    availability: filled,
    price: amount,
    price_currency_code: filled,
    list_price: amount,
    rating_value: fc.tuple(fc.nat(9), fc.nat(99)).map(([whole, part]) => `${whole}.${part}`),
    review_count: fc.nat().map(String),
    categories: fc.array(categoryPath, { maxLength: 4 }),
    categoryIds: texts,
    parentCategoryIds: texts,
    description: text,
    brand: text,
    tag1: texts,
    tag2: texts,
    tag3: texts,
    date_published: date,
    variation_id: text,
    alternate_image_urls: fc.array(url, { maxLength: 3 }),
    variations: fc.dictionary(key, variation, { maxKeys: 3 }),
    inventory_level: wholeNumber,
    supplier_cost: amount,
    custom_fields: customFields,
    skus: fc.array(sku, { maxLength: 3 }),
  },
  {
    requiredKeys: ['product_id', 'name', 'url', 'image_url', 'availability', 'price', 'price_currency_code'],
  },
)

const noText = [null, true, 7, [], {}]
const noAmount = [null, true, '12,50', '12.50', [], {}]
const noWholeNumber = [null, '3', 2.5, [], {}]
const noUrl = [
  null,
  3,
  '',
  'shop.example/a',
  '/a.jpg',
  'ftp://shop.example/a',
  'https://',
  'https://a/b c',
  'http:a',
]
const noTexts = [null, 'a|b', {}, ['a', 3]]

/** Values that the contract refuses, whichever server reads them, for every field that has any. */
export const brokenValues: Readonly<Record<ProductField, readonly unknown[]>> = {
  product_id: [null, true, '', [], {}],
  name: [...noText, ''],
  url: noUrl,
  image_url: noUrl,
  availability: [...noText, ''],
  price: noAmount,
  price_currency_code: [...noText, ''],
  list_price: noAmount,
  rating_value: [null, '', '4,5', '4.', '.5', '1e3', 'four', '4.5/5', []],
  review_count: [null, '', '4.5', '1,204', 'many', []],
  categories: [
    null,
    'a/b',
    ['a > b'],
    ['a>b'],
    ['a &gt; b'],
    ['a//b'],
    ['a/'],
    ['/'],
    [''],
    ['a/ /b'],
    ['a', 3],
  ],
  categoryIds: noTexts,
  parentCategoryIds: noTexts,
  description: noText,
  brand: noText,
  tag1: noTexts,
  tag2: noTexts,
  tag3: noTexts,
  date_published: [
    null,
    '',
    '2025-02-29',
    '1900-02-29',
    '2026-13-01',
    '2026-04-31',
    '2026-1-5',
    '2026-01-05T10:00:00Z',
    '05.01.2026',
    20_260_105,
  ],
  variation_id: noText,
  alternate_image_urls: [null, 'https://a/b', ['a.jpg'], [3]],
  variations: [null, 'EU', [{}], { EU: 3 }, { EU: { price: '3' } }, { EU: { availability: '' } }],
  inventory_level: noWholeNumber,
  supplier_cost: noAmount,
  custom_fields: [null, 'a', ['a'], { a: 3 }, { a: null }],
  skus: [
    null,
    {},
    [3],
    [{ id: 3 }],
    [{ price: '3' }],
    [{ url: 'a' }],
    [{ inventory_level: 1.5 }],
    [{ custom_fields: { a: 1 } }],
  ],
}

const textAndNumber = [['a', 3]] as const

/** Those of them that servers are seen to take all the same; null besides, of any field that is not required. */
const toleratedValues: Partial<Record<ProductField, readonly unknown[]>> = {
  variation_id: [7],
  categoryIds: textAndNumber,
  parentCategoryIds: textAndNumber,
  tag1: textAndNumber,
  tag2: textAndNumber,
  tag3: textAndNumber,
  custom_fields: [{ a: 3 }, { a: null }],
  skus: [[{ id: 3 }], [{ custom_fields: { a: 1 } }]],
}

/** Whether a lenient server takes a value that breaks the contract. */
export function isTolerated(field: ProductField, value: unknown): boolean {
  if (value === null) return !requiredFields.some((required) => required === field)
  return toleratedValues[field]?.some((one) => isDeepStrictEqual(one, value)) ?? false
}
