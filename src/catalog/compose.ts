import { type ProductField, productFields, requiredFields } from '../api/contract/product.ts'
import type { ProductId } from '../lib/brand.ts'
import type { ProductDocument, ProductState } from './model.ts'
import { inContractOrder, isJsonObject, skuFields, variationFields } from './wire-order.ts'

export type ComposedDocument =
  /** `bytes` are `document` as it goes over the wire. */
  | { kind: 'complete'; bytes: Buffer; document: ProductDocument }
  /** Required fields that no feed has brought yet: the product is not sent. */
  | { kind: 'incomplete'; missing: readonly ProductField[] }

/**
 * The wire document of a product: the same state gives the same bytes on every host. While a feed no longer names the
 * product, it is out of stock everywhere, whoever writes availability.
 */
export function composeDocument(state: ProductState, productId: ProductId): ComposedDocument {
  const { fields } = state
  const missing = requiredFields.filter((field) => field !== 'product_id' && fields[field] === undefined)
  if (missing.length > 0) return { kind: 'incomplete', missing }
  const document: Partial<Record<ProductField, unknown>> = { product_id: productId }
  for (const field of productFields) {
    const value = fields[field]
    if (value !== undefined && field !== 'product_id') document[field] = value
  }
  if (state.missingFrom.size > 0) Object.assign(document, outOfStock(fields))
  return { kind: 'complete', bytes: Buffer.from(JSON.stringify(document)), document }
}

/** The fields of a product with a missing mark as they go out; only those that the mark changes. */
export function outOfStock(fields: ProductState['fields']): ProductState['fields'] {
  const marked: ProductState['fields'] = {}
  if (fields.availability !== 'OutOfStock') marked.availability = 'OutOfStock'
  if (Array.isArray(fields.skus) && fields.skus.some(isInStock)) {
    marked.skus = fields.skus.map((sku) => withoutStock(sku, skuFields))
  }
  if (isJsonObject(fields.variations) && Object.values(fields.variations).some(isInStock)) {
    const variations = Object.entries(fields.variations)
    marked.variations = Object.fromEntries(
      variations.map(([key, value]) => [key, withoutStock(value, variationFields)]),
    )
  }
  return marked
}

function isInStock(member: unknown): boolean {
  return isJsonObject(member) && member.availability !== 'OutOfStock'
}

function withoutStock(member: unknown, order: readonly string[]): unknown {
  return isJsonObject(member) ? inContractOrder({ ...member, availability: 'OutOfStock' }, order) : member
}
