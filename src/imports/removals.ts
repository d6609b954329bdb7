import type { AcceptLine } from '../sources/model.ts'
import type { AbsentProducts } from './absent-products.ts'
import type { FeedContext, Removals } from './context.ts'
import { knownProducts } from './known-products.ts'
import type { KnownRecords } from './known-records.ts'
import { planChunk } from './plan-chunk.ts'

const idsPerStep = 500

/** Which products of the feed the file no longer names. Bounded memory: the ids are collected in the mirror. */
export async function findRemovals(
  context: FeedContext,
  absentOf: AbsentProducts,
  index: KnownRecords | undefined,
): Promise<Removals> {
  const { feed, book } = context
  await book.update({ heldIds: { feed: feed.name, clear: true } })
  const unmissed = index?.unmissed()
  if (unmissed) return unmissed
  const removals: Removals = { missing: 0, of: 0 }
  for await (const known of knownProducts(context)) {
    removals.of += known.length
    const add = absentOf(known)
    const absent = new Set(add)
    for (const id of index ? known : []) index?.addProduct(id, absent.has(id))
    removals.missing += add.length
    if (add.length > 0) await book.update({ heldIds: { feed: feed.name, add } })
  }
  return removals
}

/** Marks the collected products as missing; what the feed has named again since is no longer among them. */
export async function applyRemovals(
  context: FeedContext,
  { claim, sequence }: Pick<AcceptLine, 'claim' | 'sequence'>,
): Promise<void> {
  const { feed, mirror, rules, work, signal } = context
  for (;;) {
    signal.throwIfAborted()
    const ids = mirror.heldIds(feed.name, idsPerStep)
    if (ids.length === 0) return
    await mirror.update(ids, (stored) => {
      const steps = ids.map((missing) => ({ missing }))
      const options = { feed: feed.name, import: sequence, ...rules }
      const { writes, tally } = planChunk({ steps, stored, ...options })
      return {
        writes,
        heldIds: { feed: feed.name, remove: ids },
        counts: { claim, add: { ...tally, incomplete: 0 } },
      }
    })
    work.advance()
  }
}
