import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ProductField, productFields } from '../../src/api/contract/product.ts'
import { diffDocuments } from '../../src/catalog/diff.ts'
import { differingFields } from '../../src/catalog/differing-fields.ts'
import type { ProductDocument } from '../../src/catalog/model.ts'
import type { ProductId } from '../../src/lib/brand.ts'
import { arbitraryProduct } from '../api/contract/arbitrary-products.ts'

const productId = 'P1' as ProductId

function bytesOf(document: ProductDocument): Buffer {
  return Buffer.from(JSON.stringify(document))
}

function parsed(bytes: Buffer): ProductDocument {
  return JSON.parse(bytes.toString('utf8'))
}

function diff(documents: { before: ProductDocument; after: ProductDocument }) {
  return diffDocuments({ productId, ...documents, urgent: ['price', 'availability'], missing: false })
}

/** Texts that look like what stands around fields, and ends of texts that are none. */
const odd = fc
  .array(fc.constantFrom('"', '\\', ',', ':', '{', '}', '[', ']', '"price":', '\n', '\ud800', '€', 'a'), {
    maxLength: 6,
  })
  .map((parts) => parts.join(''))
/** V8's `JSON.parse` (Node 24.21) may take a key with an escaped quote for an earlier one that ends in a backslash. */
const oddKey = odd.map((text) => text.replaceAll('\\', ''))
const number = fc.constantFrom(0, -0, 1, 12, 1.5, 1e21, 1e-7, -1)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    odd,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(oddKey, fc.constantFrom('__proto__', 'price', 'name')), tie('value'), {
      maxKeys: 3,
    }),
  ),
}))
const few: readonly ProductField[] = ['product_id', 'name', 'price', 'tag1', 'variations', 'custom_fields']
const oddDocument = fc.record(Object.fromEntries(few.map((field) => [field, value])), {
  requiredKeys: ['product_id', 'name', 'price'],
})
/** Two documents that have most of their fields in common. */
const documents = fc.oneof(arbitraryProduct, oddDocument).chain((one: ProductDocument) => {
  const fields = productFields.filter((field) => one[field] !== undefined)
  const other = fc.record(Object.fromEntries(fields.map((field) => [field, value])))
  return fc
    .tuple(other, fc.uniqueArray(fc.constantFrom(...fields), { minLength: 1, maxLength: 3 }))
    .map(([others, changed]) => {
      const edits = Object.fromEntries(changed.map((field) => [field, others[field]]))
      return [bytesOf(one), bytesOf({ ...one, ...edits })] as const
    })
})

it('fields that differ make the diff of the whole documents', () => {
  fc.assert(
    fc.property(documents, ([before, after]) => {
      fc.pre(!before.equals(after))
      const found = differingFields(before, after)
      const whole = { before: parsed(before), after: parsed(after) }
      expect(found && Object.keys(found.after)).toEqual(Object.keys(found?.before ?? {}))
      expect(found && diff(found)).toEqual(diff(whole))
    }),
    { numRuns: 2_000 },
  )
})

it('documents with other fields are left to be parsed as a whole, or say the same', () => {
  fc.assert(
    fc.property(oddDocument, oddDocument, fc.boolean(), (one, other, isTurned) => {
      const turned = Object.fromEntries(Object.entries(other).reverse())
      const [before, after] = [bytesOf(one), bytesOf(isTurned ? turned : other)]
      fc.pre(!before.equals(after))
      const found = differingFields(before, after)
      if (found) expect(diff(found)).toEqual(diff({ before: parsed(before), after: parsed(after) }))
    }),
    { numRuns: 2_000 },
  )
})

it('parses only what differs', () => {
  const before = bytesOf({ product_id: 'a', name: 'n', price: 1, tag1: ['a,"b":'], inventory_level: 12 })
  const after = bytesOf({ product_id: 'a', name: 'n', price: 12, tag1: ['a,"b":'], inventory_level: 1 })
  expect(differingFields(before, after)).toEqual({
    before: { price: 1, inventory_level: 12 },
    after: { price: 12, inventory_level: 1 },
  })
  expect(differingFields(bytesOf({ price: 1 }), bytesOf({ price: 1, tag1: [] }))).toBeUndefined()
  expect(differingFields(bytesOf({ price: 1, tag1: [] }), bytesOf({ price: 1 }))).toBeUndefined()
  expect(differingFields(bytesOf({ price: 1, tag1: [] }), bytesOf({ price: 2 }))).toBeUndefined()
  expect(differingFields(bytesOf({ price: 1 }), bytesOf({ price_currency_code: 1 }))).toBeUndefined()
})
