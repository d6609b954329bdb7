import type { ProductPatch } from '../catalog/model.ts'
import { type AbsentProducts, absentByKey } from '../imports/absent-products.ts'
import { patchesOfKnown } from '../imports/key-matches.ts'
import type { ProductId } from '../lib/brand.ts'
import { readStored } from '../outbox/read-stored.ts'
import type { IdTable, IdTableBuilder } from '../records/id-table.ts'
import type { FindProducts } from './find-products.ts'
import type { Mirror } from './mirror.ts'

interface Finding {
  find: FindProducts
  /** Takes the ids of the products. */
  found: IdTableBuilder
}

/** The patches whose key one product has, with its id; the others would be rejected. */
export async function namedPatches(
  patches: readonly ProductPatch[],
  { find, found }: Finding,
): Promise<ProductPatch[]> {
  const products = await find([...new Set(patches.map(({ productId }) => productId))])
  const known = patchesOfKnown(patches, products)
  for (const { productId } of known) found.add(productId, 0)
  return known
}

interface KeyedFile {
  key: string
  /** The values of the key in the file. */
  ids: IdTable
  found: IdTable
  mirror: NonNullable<Mirror>
}

/** Which products a file of a feed with a key would count as missing. */
export function absentOfKey({ key, ids, found, mirror }: KeyedFile): AbsentProducts {
  const read = (known: readonly ProductId[]) => readStored(mirror.connection, mirror.keys, known)
  return absentByKey({ key, values: ids, found, read })
}
