import { setImmediate } from 'node:timers/promises'
import { feedsOf } from '../catalog/stored-form.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import type { FeedContext } from './context.ts'

type Page = ReturnType<MirrorReader['pages']> extends Iterable<infer One> ? One : never

/** All products of the mirror, page by page; between two pages the event loop goes on. */
export async function* productPages(
  mirror: Pick<MirrorReader, 'pages'>,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  for (const page of mirror.pages()) {
    yield page
    await setImmediate()
    signal.throwIfAborted()
  }
}

interface Feed extends Pick<FeedContext, 'feed' | 'signal'> {
  mirror: Pick<MirrorReader, 'pages'>
  work?: FeedContext['work']
}

/** The products that the feed's files named last time, page by page. Bounded memory. */
export async function* knownProducts({ feed, mirror, work, signal }: Feed): AsyncGenerator<ProductId[]> {
  for await (const page of productPages(mirror, signal)) {
    const known = productsOfFeed(page, feed.name)
    if (known.length > 0) yield known
    work?.advance()
  }
}

/** Of a page: the products that the feed named last time. */
function productsOfFeed(page: Page, name: FeedName): ProductId[] {
  return page.flatMap(({ productId, meta }) => {
    const { feeds, missingFrom } = feedsOf(meta)
    return feeds.has(name) && !missingFrom.has(name) ? [productId] : []
  })
}
