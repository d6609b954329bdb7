import type { ProductPatch } from '../catalog/model.ts'
import { foundValue } from '../catalog/show-value.ts'
import type { ProductId } from '../lib/brand.ts'
import type { FoundProducts } from '../mirror/model.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'

/** Of the products that have the value of a key: the one that it names. Several share it: none. */
export function soleProduct(matches: readonly ProductId[]): ProductId | undefined {
  return matches.length === 1 ? matches[0] : undefined
}

/** The patches whose key one product has, with its id. */
export function patchesOfKnown(patches: readonly ProductPatch[], products: FoundProducts): ProductPatch[] {
  return patches.flatMap((patch) => {
    const productId = soleProduct(products.get(patch.productId) ?? [])
    return productId === undefined ? [] : [{ ...patch, productId }]
  })
}

interface KeyFinding {
  record: Pick<ParsedRecord, 'record' | 'line'>
  key: string
  value: string
  /** Products that have the value: none, or the first two of several. */
  matches: readonly string[]
}

/** Why a record that names its product by a key is not applied. */
export function describeUnknownKey({
  record: { record, line },
  key,
  value: content,
  matches,
}: KeyFinding): RecordIssue {
  const found = `${key}: found ${JSON.stringify(content)}`
  const value = foundValue(content)
  if (matches.length === 0) {
    const remedy = 'drop the record again when its product has been imported'
    const message = `${found}, which no product has, expected that of a known product; ${remedy}`
    return { record, line, field: key, code: 'unknown-key', message, value, remedy, severity: 'reject' }
  }
  const names = matches.map((id) => JSON.stringify(id)).join(' and ')
  const remedy = 'give each product its own and drop the record again'
  const message = `${found}, which several products have (${names}), expected that of one; ${remedy}`
  return { record, line, field: key, code: 'ambiguous-key', message, value, remedy, severity: 'reject' }
}
