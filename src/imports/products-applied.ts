import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import type { FeedContext } from './context.ts'
import type { ImportTurn } from './import-turns.ts'
import { scopeOf } from './step-scope.ts'

const askAgainMs = 200

/**
 * Resolves when all that the other feeds of products were given up to now has been applied. A record whose product is
 * not known yet waits for it, so that a replay and a first load find what a day in their right order would have found.
 * Feeds that find products by a key bring none and are not waited for; so no two of them wait for each other.
 */
export async function untilProductsApplied(context: FeedContext, turn: ImportTurn): Promise<void> {
  const { catalog, manifest, work, clock, signal } = context
  const until = manifest.nextSequence
  const names = [...catalog.feeds.values()]
    .filter(({ kind, key }) => kind === 'products' && key === undefined)
    .map(({ name }) => name)
  if (names.length === 0 || !(await isAnyBehind(context, names, until))) return
  using _ = work.wait()
  using __ = turn.rest()
  while (await isAnyBehind(context, names, until)) await clock.sleep(askAgainMs, signal)
}

async function isAnyBehind(
  { connection, keys, manifest }: FeedContext,
  names: readonly FeedName[],
  until: AcceptSequence,
): Promise<boolean> {
  const applied = await connection.hmget(keys.applied, ...names)
  return names.some((name, index) => {
    for (const step of manifest.after(Number(applied[index] ?? 0) as AcceptSequence, name)) {
      if (step.sequence >= until) return false
      if (scopeOf(step, (sequence) => manifest.file(sequence)?.feed) === name) return true
    }
    return false
  })
}
