import type { ProductPatch } from '../catalog/model.ts'
import type { IdTableBuilder } from '../records/id-table.ts'
import type { FindProducts } from './find-products.ts'

interface Finding {
  find: FindProducts
  /** Takes the ids of the products. */
  found: IdTableBuilder
}

/** The patches whose key one product has, with its id; the others would be rejected. */
export function namedPatches(patches: readonly ProductPatch[], { find, found }: Finding): ProductPatch[] {
  const products = find([...new Set(patches.map(({ productId }) => productId))])
  return patches.flatMap((patch, index) => {
    const [productId, ...others] = products.get(patch.productId) ?? []
    if (productId === undefined || others.length > 0) return []
    found.add(productId, index)
    return [{ ...patch, productId }]
  })
}
