import type { ProductPatch } from '../../catalog/model.ts'
import type { ReadBatch } from '../../imports/read-feed-file.ts'

export interface ProductPreview {
  record: number
  line: number
  /** What the record sets, in contract order; undefined where it is rejected. */
  product: Readonly<Record<string, unknown>> | undefined
  problems: readonly string[]
}

/** The products of a batch as the feed maps them, in file order. */
export function previewProducts({ items, rejected }: ReadBatch<ProductPatch>): ProductPreview[] {
  const made = items.map(({ item: { productId, set }, record: { record, line }, issues }) => {
    return { record, line, product: { product_id: productId, ...set }, problems: textsOf(issues) }
  })
  const others = rejected
    .filter(({ isRest }) => !isRest)
    .map(({ record, line, issues }) => ({ record, line, product: undefined, problems: textsOf(issues) }))
  return [...made, ...others].sort((one, other) => one.record - other.record)
}

function textsOf(issues: readonly { message: string }[]): string[] {
  return issues.map(({ message }) => message)
}
