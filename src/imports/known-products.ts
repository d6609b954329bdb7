import type { ProductId } from '../lib/brand.ts'
import type { FeedContext } from './context.ts'
import { productsOfFeed } from './removals.ts'

interface Feed extends Pick<FeedContext, 'feed' | 'connection' | 'keys' | 'signal'> {
  work?: FeedContext['work']
}

/** The products that the feed's files named last time, page by page; one may come twice. Bounded memory. */
export async function* knownProducts(context: Feed): AsyncGenerator<ProductId[]> {
  const { feed, connection, keys, work, signal } = context
  for await (const page of connection.hscanStream(keys.meta, { count: 1_000 })) {
    signal.throwIfAborted()
    const known = productsOfFeed(page as string[], feed.name)
    if (known.length > 0) yield known
    work?.advance()
  }
}
