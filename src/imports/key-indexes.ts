import { keyValues } from '../catalog/feed-key.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { ProductId } from '../lib/brand.ts'
import type { KeyEntry, StoredProduct } from '../outbox/model.ts'
import type { ProductContext } from './context.ts'

const idsPerStep = 500

type KeyContext = Pick<ProductContext, 'connection' | 'keys' | 'keyFields' | 'writer' | 'log' | 'catalog'> & {
  signal: AbortSignal
}

/**
 * Makes the indexes by which feeds find products fit the configuration: those that no feed asks for are removed, since
 * nobody keeps them, and new ones are filled from the products that are there. To be done before anything is imported
 * through the writer. Safe to repeat: an index counts as complete once the last product is in it.
 */
export async function prepareKeyIndexes(context: KeyContext): Promise<void> {
  const { connection, keys, keyFields, writer, log, catalog, signal } = context
  const complete = await connection.smembers(keys.keyFields)
  const fresh = keyFields.filter((field) => !complete.includes(field))
  const stale = complete.filter((field) => !keyFields.includes(field))
  if (fresh.length + stale.length === 0) return
  await writer.update([], () => ({ writes: [], keyFields: { drop: [...stale, ...fresh] } }))
  if (fresh.length === 0) return
  let products = 0
  for await (const page of connection.hscanStream(keys.meta, { count: idsPerStep })) {
    signal.throwIfAborted()
    const ids = (page as ProductId[]).filter((_, index) => index % 2 === 0)
    products += ids.length
    await writer.update(ids, (stored) => ({ writes: [], addKeys: entriesOf(stored, fresh) }))
  }
  await writer.update([], () => ({ writes: [], keyFields: { complete: fresh } }))
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
