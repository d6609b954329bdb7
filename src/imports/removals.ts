import { feedsOf } from '../catalog/stored-form.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import type { AbsentProducts } from './absent-products.ts'
import type { FeedContext } from './context.ts'
import { planChunk } from './plan-chunk.ts'

export interface Removals {
  /** Products of the feed that the file no longer names; their ids stand in the feed's set of held ids. */
  missing: number
  /** Products of the feed that were not missing before. */
  of: number
}

const idsPerStep = 500

/** Which products of the feed the file no longer names. Bounded memory: the ids are collected in Redis. */
export async function findRemovals(context: FeedContext, absentOf: AbsentProducts): Promise<Removals> {
  const { feed, writer, connection, keys, work } = context
  await writer.update([], () => ({ writes: [], heldIds: { feed: feed.name, clear: true } }))
  const removals: Removals = { missing: 0, of: 0 }
  for await (const page of connection.hscanStream(keys.meta, { count: 1_000 })) {
    context.signal.throwIfAborted()
    const known = productsOfFeed(page as string[], feed.name)
    removals.of += known.length
    const add = await absentOf(known)
    if (add.length > 0) await writer.update([], () => ({ writes: [], heldIds: { feed: feed.name, add } }))
    work.advance()
  }
  // A scan may name a product twice: the set knows how many there are.
  removals.missing = await connection.scard(keys.heldIds(feed.name))
  return removals
}

/** Marks the collected products as missing; what the feed has named again since is no longer among them. */
export async function applyRemovals(context: FeedContext, sequence: number): Promise<void> {
  const { feed, writer, connection, keys, work } = context
  const set = keys.heldIds(feed.name)
  for (;;) {
    await context.room?.wait(work, context.signal)
    context.signal.throwIfAborted()
    const ids = (await connection.srandmember(set, idsPerStep)) as ProductId[]
    if (ids.length === 0) return
    await markMissing(context, { ids, sequence })
    work.advance()
    context.onOffered()
  }

  async function markMissing(of: FeedContext, { ids, sequence }: { ids: ProductId[]; sequence: number }) {
    await writer.update(ids, (stored) => {
      const steps = ids.map((missing) => ({ missing }))
      const { writes, tally } = planChunk({
        steps,
        stored,
        feed: feed.name,
        ranks: of.ranks,
        urgent: of.catalog.urgent,
      })
      return {
        writes,
        heldIds: { feed: feed.name, remove: ids },
        counts: { sequence, add: { ...tally, incomplete: 0 } },
      }
    })
  }
}

/** Of a page of `meta`, ids and texts in turn: the products that the feed named last time. */
export function productsOfFeed(page: readonly string[], feed: FeedName): ProductId[] {
  const products: ProductId[] = []
  for (let i = 0; i + 1 < page.length; i += 2) {
    const [id, meta] = [page[i] as ProductId, page[i + 1] as string]
    const { feeds, missingFrom } = feedsOf(meta)
    if (feeds.has(feed) && !missingFrom.has(feed)) products.push(id)
  }
  return products
}
