import { feedsOf } from '../catalog/stored-form.ts'
import type { FeedConfig } from '../config/model.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import type { Mirror } from '../mirror/reader.ts'
import { productPages } from './known-products.ts'

interface ForgetOptions {
  feeds: ReadonlyMap<FeedName, FeedConfig>
  mirror: Mirror
  nowMs: number
}

/**
 * Forgets products that no feed has named for `missing.forget`, counted from the pass that first found them so. One with
 * a place stays until it is sent. Safe to repeat.
 */
export async function forgetProducts(
  { feeds, mirror, nowMs }: ForgetOptions,
  signal: AbortSignal,
): Promise<void> {
  for await (const page of productPages(mirror, signal)) {
    const plan = (products: typeof page) => {
      const since = mirror.absentSince(products.map(({ productId }) => productId))
      const change = { absent: [] as ProductId[], present: [] as ProductId[], forget: [] as ProductId[] }
      for (const { productId, meta } of products) {
        const afterMs = forgetAfterMs(meta, feeds)
        const known = since.get(productId)
        if (afterMs === undefined) {
          if (known !== undefined) change.present.push(productId)
        } else if (known === undefined) change.absent.push(productId)
        else if (known <= nowMs - afterMs) change.forget.push(productId)
      }
      return change
    }
    const found = Object.values(plan(page)).flat()
    if (found.length === 0) continue
    // What an import has changed since the page was read counts.
    await mirror.update(found, (stored) => {
      const products = [...stored].map(([productId, { meta = '' }]) => ({ productId, meta }))
      return { writes: [], absent: { ...plan(products), nowMs } }
    })
  }
}

/** By the feeds that are configured. Undefined: one names the product or ignores missing products, or none missed it. */
function forgetAfterMs(meta: string, feeds: ForgetOptions['feeds']): number | undefined {
  const { feeds: naming, missingFrom } = feedsOf(meta)
  if ([...naming].some((name) => feeds.has(name))) return undefined
  const rules = [...missingFrom].flatMap((name) => feeds.get(name)?.missing ?? [])
  const times = rules.flatMap(({ action, forgetMs }) => (action === 'out_of_stock' ? [forgetMs] : []))
  return times.length > 0 && times.length === rules.length ? Math.max(...times) : undefined
}
