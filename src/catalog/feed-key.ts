import { fieldKinds, type ProductField, productFields } from '../api/contract/product.ts'
import type { FeedConfig } from '../config/model.ts'
import type { FieldRule } from '../config/rule-model.ts'
import type { FeedName } from '../lib/brand.ts'
import { isJsonObject } from '../records/look-up.ts'
import type { RecordIssue } from '../records/model.ts'
import { didYouMean } from './closest-name.ts'
import type { ProductState } from './model.ts'

const customPrefix = 'custom_fields.'
const skuKey = 'skus.id'

/** A value with it cannot be found: it separates value and id in the index. */
const separator = '\0'

/** Why records cannot name products by this field; undefined when they can. */
export function keyProblem(key: string): string | undefined {
  if (key === skuKey || (key.startsWith(customPrefix) && key.length > customPrefix.length)) return undefined
  if (key === 'product_id') return 'names the id itself; map product_id in fields and leave key out'
  const names: readonly string[] = productFields
  if (!names.includes(key)) return `is no field of a product${didYouMean(key, names)}`
  const kind = fieldKinds[key as ProductField]
  return kind === 'string' || kind === 'url'
    ? undefined
    : `is no single text; expected a field such as variation_id, ${customPrefix}<name> or ${skuKey}`
}

/** The values by which a feed with this key finds the product, none twice. */
export function keyValues(fields: ProductState['fields'], key: string): readonly string[] {
  const texts = valuesAt(fields, key)
    .filter((value) => typeof value === 'string')
    .map((text) => text.trim())
  return [...new Set(texts)].filter((text) => text !== '' && !text.includes(separator))
}

function valuesAt(fields: ProductState['fields'], key: string): unknown[] {
  if (key === skuKey) {
    return Array.isArray(fields.skus)
      ? fields.skus.map((sku) => (isJsonObject(sku) ? sku.id : undefined))
      : []
  }
  if (!key.startsWith(customPrefix)) return [fields[key as ProductField]]
  const name = key.slice(customPrefix.length)
  const custom = fields.custom_fields
  return isJsonObject(custom) && Object.hasOwn(custom, name) ? [custom[name]] : []
}

export function keyFieldsOf(feeds: ReadonlyMap<FeedName, FeedConfig>): readonly string[] {
  return [...new Set([...feeds.values()].flatMap(({ key }) => (key === undefined ? [] : [key])))].sort()
}

/** The rules of a feed; that of its key takes the place of the id's, so that what a mapping calls id is the key's value. */
export function rulesOf({ fields, key }: FeedConfig): Readonly<Record<string, FieldRule>> {
  if (key === undefined) return fields
  const { [key]: rule, ...others } = fields
  return rule ? { ...others, product_id: rule } : others
}

/** In the words of the feed: its records have a key, and nobody knows of which product until it was looked up. */
export function issueOfKey({ productId: _, ...issue }: RecordIssue, key: string): RecordIssue {
  if (issue.field !== 'product_id') return issue
  return { ...issue, field: key, message: issue.message.replace(/^product_id/, () => key) }
}
