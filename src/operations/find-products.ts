import { keyValues } from '../catalog/feed-key.ts'
import { decodeState } from '../catalog/stored-form.ts'
import { productPages } from '../imports/known-products.ts'
import type { ProductId } from '../lib/brand.ts'
import type { FoundProducts, MirrorReader } from '../mirror/model.ts'
import type { IdTable } from '../records/id-table.ts'

/** Which products have these values in the field that is a feed's key. Changes nothing. */
export type FindProducts = (values: readonly string[]) => FoundProducts

interface FindOptions {
  mirror: MirrorReader
  key: string
  /** All that will be asked for. */
  wanted: IdTable
  signal: AbortSignal
}

/** Through the index where the daemon keeps one; a key that it does not know yet is looked for in all products, once. */
export async function openProductFinder(options: FindOptions): Promise<FindProducts> {
  const { mirror, key } = options
  if (mirror.keyFields().includes(key)) return (values) => mirror.lookUp({ field: key, values })
  const found = await scanProducts(options)
  return (values) => new Map(values.map((value) => [value, found.get(value) ?? []]))
}

async function scanProducts({ mirror, key, wanted, signal }: FindOptions): Promise<FoundProducts> {
  const found = new Map<string, ProductId[]>()
  for await (const page of productPages(mirror, signal)) {
    for (const [id, { meta, document, partial }] of mirror.read(page.map(({ productId }) => productId))) {
      if (meta === undefined) continue
      for (const value of keyValues(decodeState({ meta, document, partial }).fields, key)) {
        if (!wanted.has(value)) continue
        const known = found.get(value)
        if (!known) found.set(value, [id])
        else if (known.length < 2) known.push(id)
      }
    }
  }
  return found
}
