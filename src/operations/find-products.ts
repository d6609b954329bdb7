import { keyValues } from '../catalog/feed-key.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { ProductId } from '../lib/brand.ts'
import { type FoundProducts, lookUpKeys } from '../outbox/key-index.ts'
import { readStored } from '../outbox/read-stored.ts'
import type { IdTable } from '../records/id-table.ts'
import type { Mirror } from './mirror.ts'

/** Which products have these values in the field that is a feed's key. Changes nothing. */
export type FindProducts = (values: readonly string[]) => Promise<FoundProducts>

interface FindOptions {
  mirror: Mirror
  key: string
  /** All that will be asked for. */
  wanted: IdTable
}

/** Through the index where the daemon keeps one; a key that it does not know yet is looked for in all products, once. */
export async function openProductFinder({ mirror, key, wanted }: FindOptions): Promise<FindProducts> {
  if (!mirror) return async () => new Map()
  const { connection, keys } = mirror
  if ((await connection.sismember(keys.keyFields, key)) === 1) {
    return (values) => lookUpKeys(connection, keys, { field: key, values })
  }
  const found = await scanProducts(mirror, { key, wanted })
  return async (values) => new Map(values.map((value) => [value, found.get(value) ?? []]))
}

async function scanProducts(
  { connection, keys }: NonNullable<Mirror>,
  { key, wanted }: Omit<FindOptions, 'mirror'>,
): Promise<FoundProducts> {
  const found = new Map<string, ProductId[]>()
  for await (const page of connection.hscanStream(keys.meta, { count: 500 })) {
    const ids = (page as ProductId[]).filter((_, index) => index % 2 === 0)
    if (ids.length === 0) continue
    for (const [productId, { meta, document, partial }] of await readStored(connection, keys, ids)) {
      if (meta === undefined) continue
      for (const value of keyValues(decodeState({ meta, document, partial }).fields, key)) {
        if (!wanted.has(value)) continue
        const known = found.get(value)
        // A scan may name a product twice.
        if (!known) found.set(value, [productId])
        else if (known.length < 2 && !known.includes(productId)) known.push(productId)
      }
    }
  }
  return found
}
