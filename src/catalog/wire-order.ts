import { type ProductField, productFields, skuSchema, variationSchema } from '../api/contract/product.ts'
import type { JsonObject } from '../records/look-up.ts'

/**
 * A product without an id or any field, each in its place in contract order. A copy of this is filled, and written as
 * JSON, in half the time of an object that grows field by field.
 */
export const noFields = Object.fromEntries(productFields.map((field) => [field, undefined])) as Readonly<
  Record<ProductField, undefined>
>

export const variationFields: readonly string[] = Object.keys(variationSchema.shape)
export const skuFields: readonly string[] = Object.keys(skuSchema.shape)

/**
 * The same value must always give the same bytes, so keys inside a field have one order: contract order where the
 * contract names them (others follow, for the schema to refuse), else sorted by code unit.
 * Entries, not assignments: a key `__proto__` must stay a key, for the schema to refuse.
 */
export function inContractOrder(object: JsonObject, order: readonly string[]): JsonObject {
  const known = order.filter((key) => object[key] !== undefined && Object.hasOwn(object, key))
  const others = Object.keys(object).filter((key) => !order.includes(key) && object[key] !== undefined)
  return Object.fromEntries([...known, ...others].map((key) => [key, object[key]]))
}

export function sortedByKey<Value>(object: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(object).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
  )
}
