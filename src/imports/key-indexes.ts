import { keyValues } from '../catalog/feed-key.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { ProductId } from '../lib/brand.ts'
import type { KeyEntry, StoredProduct } from '../mirror/model.ts'
import type { ProductContext } from './context.ts'
import { productPages } from './known-products.ts'

type KeyContext = Pick<ProductContext, 'mirror' | 'rules' | 'log' | 'catalog' | 'signal'>

/**
 * Makes the indexes by which feeds find products fit the configuration: those that no feed asks for are removed, since
 * nobody keeps them, and new ones are filled from the products that are there. To be done before anything is imported.
 * Safe to repeat: an index counts as complete once the last product is in it.
 */
export async function prepareKeyIndexes(context: KeyContext): Promise<void> {
  const { mirror, rules, log, catalog, signal } = context
  const complete = mirror.keyFields()
  const fresh = rules.keyFields.filter((field) => !complete.includes(field))
  const stale = complete.filter((field) => !rules.keyFields.includes(field))
  if (fresh.length + stale.length === 0) return
  await mirror.update([], () => ({ writes: [], keyFields: { drop: [...stale, ...fresh] } }))
  if (fresh.length === 0) return
  let products = 0
  for await (const page of productPages(mirror, signal)) {
    products += page.length
    const ids = page.map(({ productId }) => productId)
    await mirror.update(ids, (stored) => ({ writes: [], addKeys: entriesOf(stored, fresh) }))
  }
  await mirror.update([], () => ({ writes: [], keyFields: { complete: fresh } }))
  if (products > 0)
    log.info({ catalog: catalog.name, keys: fresh, products }, 'products can be found by keys')
}

function entriesOf(stored: ReadonlyMap<ProductId, StoredProduct>, keyFields: readonly string[]): KeyEntry[] {
  return [...stored].flatMap(([productId, { meta, document, partial }]) => {
    if (meta === undefined) return []
    const { fields } = decodeState({ meta, document, partial })
    return keyFields.flatMap((field) =>
      keyValues(fields, field).map((value) => ({ field, value, productId })),
    )
  })
}
