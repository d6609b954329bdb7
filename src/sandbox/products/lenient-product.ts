import type { z } from 'zod'
import { describeProblem, productSchema, requiredFields } from '../../api/contract/product.ts'

/** Names that clients of such APIs also use, and what the contract calls them. */
const otherNames = [
  ['category_ids', 'categoryIds'],
  ['parent_category_ids', 'parentCategoryIds'],
] as const

const textOrNumber = ['product_id', 'rating_value', 'review_count'] as const

/**
 * What is wrong with a product, in the words of the upsert endpoint; undefined when it is taken. The lenient check
 * tolerates what servers are seen to tolerate: numbers where the contract has numeric text, an empty list of
 * variations, two names in snake case, and fields that the contract does not have.
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
  if (typeof product !== 'object' || product === null || Array.isArray(product)) return product
  const form: Record<string, unknown> = { ...product }
  for (const field of textOrNumber) {
    if (typeof form[field] === 'number') form[field] = String(form[field])
  }
  for (const [other, field] of otherNames) {
    if (form[other] !== undefined && form[field] === undefined) form[field] = form[other]
  }
  if (Array.isArray(form.variations) && form.variations.length === 0) form.variations = {}
  return form
}

function describeError(issue: z.core.$ZodIssue): string {
  const [field] = issue.path
  const isMissing = issue.path.length === 1 && issue.input === undefined
  if (isMissing && requiredFields.some((required) => required === field)) {
    return `${String(field)} field is missing (${camelCase(String(field))})`
  }
  return describeProblem(issue)
}

function camelCase(field: string): string {
  return field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
