import type { z } from 'zod'
import { isObject } from '../../api/contract/json-value.ts'
import { describeProblem, productSchema, requiredFields } from '../../api/contract/product.ts'

/** Names that clients of such APIs also use, and what the contract calls them. */
const otherNames = [
  ['category_ids', 'categoryIds'],
  ['parent_category_ids', 'parentCategoryIds'],
] as const

const textOrNumber = ['product_id', 'variation_id', 'rating_value', 'review_count'] as const
const textsOrNumbers = ['categoryIds', 'parentCategoryIds', 'tag1', 'tag2', 'tag3'] as const

/**
 * What is wrong with a product, in the words of the upsert endpoint; undefined when it is taken. The lenient check
 * tolerates what servers are seen to tolerate: numbers for ids, for numeric texts and in lists of texts, any scalar as a
 * custom field, null for a field that is not given, an empty list for an empty map, two names in snake case, and fields
 * that the contract does not have.
 */
export function productErrors(product: unknown, strict: boolean): string | undefined {
  const candidate = strict ? product : inContractForm(product)
  const result = productSchema.safeParse(candidate, { reportInput: true })
  if (result.success) return undefined
  const issues = strict
    ? result.error.issues
    : result.error.issues.filter((issue) => issue.code !== 'unrecognized_keys')
  if (issues.length === 0) return undefined
  // Every reason is followed by a comma and a space, the last one too: that is how the endpoint writes them.
  return issues.map((issue) => `${describeError(issue)}, `).join('')
}

/** The id as the sandbox files it; empty when there is none that could name a product. */
export function productIdOf(product: unknown): string {
  if (typeof product !== 'object' || product === null || !('product_id' in product)) return ''
  const id = product.product_id
  return typeof id === 'string' || typeof id === 'number' ? String(id) : ''
}

function inContractForm(product: unknown): unknown {
  if (!isObject(product)) return product
  const form = givenFields(product)
  for (const field of textOrNumber) form[field] = textOfNumber(form[field])
  for (const [other, field] of otherNames) form[field] ??= form[other]
  for (const field of textsOrNumbers) form[field] = eachOf(form[field], textOfNumber)
  form.variations = valuesOf(mapOrEmptyList(form.variations), (one) =>
    isObject(one) ? givenFields(one) : one,
  )
  form.custom_fields = textsByName(form.custom_fields)
  form.skus = eachOf(form.skus, skuInContractForm)
  return form
}

function skuInContractForm(sku: unknown): unknown {
  if (!isObject(sku)) return sku
  const form = givenFields(sku)
  form.id = textOfNumber(form.id)
  form.custom_fields = textsByName(form.custom_fields)
  return form
}

function textsByName(value: unknown): unknown {
  const map = mapOrEmptyList(value)
  return isObject(map) ? valuesOf(givenFields(map), textOfScalar) : map
}

/** PHP has one kind of array: it writes an empty map as an empty list. */
function mapOrEmptyList(value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? {} : value
}

/** Null says that a field is not given. */
function givenFields(object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
}

function valuesOf(map: unknown, change: (value: unknown) => unknown): unknown {
  if (!isObject(map)) return map
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]))
}

function eachOf(list: unknown, change: (value: unknown) => unknown): unknown {
  return Array.isArray(list) ? list.map(change) : list
}

function textOfNumber(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value
}

function textOfScalar(value: unknown): unknown {
  return typeof value === 'boolean' ? String(value) : textOfNumber(value)
}

function describeError(issue: z.core.$ZodIssue): string {
  const [field] = issue.path
  const isMissing = issue.path.length === 1 && (issue.input === undefined || issue.input === null)
  if (isMissing && requiredFields.some((required) => required === field)) {
    return `${String(field)} field is missing (${camelCase(String(field))})`
  }
  return describeProblem(issue)
}

function camelCase(field: string): string {
  return field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
