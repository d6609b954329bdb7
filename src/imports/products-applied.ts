import type { FeedName } from '../lib/brand.ts'
import type { FeedContext } from './context.ts'
import type { ImportTurn } from './import-turns.ts'
import { appliedUpTo, stepsAfter } from './manifest-steps.ts'

const askAgainMs = 200

/**
 * Resolves when all that the other feeds of products were given up to now has been applied. A record whose product is
 * not known yet waits for it, so that a replay and a first load find what a day in their right order would have found.
 * Feeds that find products by a key bring none and are not waited for; so no two of them wait for each other.
 */
export async function untilProductsApplied(context: FeedContext, turn: ImportTurn): Promise<void> {
  const { catalog, book, manifest, work, clock, signal } = context
  const until = manifest.nextSequence
  const isBehind = (scope: FeedName) => {
    const [next] = stepsAfter({ book, manifest, scope, after: appliedUpTo(book, manifest, scope) })
    return next !== undefined && next.sequence < until
  }
  const names = [...catalog.feeds.values()]
    .filter(({ kind, key }) => kind === 'products' && key === undefined)
    .map(({ name }) => name)
  if (!names.some(isBehind)) return
  using _ = work.wait()
  using __ = turn.rest()
  while (names.some(isBehind)) await clock.sleep(askAgainMs, signal)
}
