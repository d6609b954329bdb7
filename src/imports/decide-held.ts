import type { AcceptSequence } from '../lib/brand.ts'
import type { DecisionLine } from '../sources/model.ts'
import { type FeedContext, formatHeld, type Held, readHeld } from './context.ts'
import { appliedStep } from './manifest-steps.ts'
import { applyRemovals } from './removals.ts'

/**
 * Approve or discard: acts only on what is still held of that very import. An approved file is applied as if it had
 * never been held, and the feed's later files after it once more: answers the step from which the feed then goes on
 * (exclusive), or undefined. Safe to repeat.
 */
export async function decideHeld(
  context: FeedContext,
  step: DecisionLine,
): Promise<{ rewindTo: AcceptSequence } | undefined> {
  const { feed, book, manifest, log } = context
  if (step.decision !== 'approve' && step.decision !== 'discard') return undefined
  const applied = appliedStep(feed.name, step)
  const all = readHeld(context)
  const held = all.find(({ sequence }) => sequence === step.import)
  // What the feed comes to again after it went back for this decision; removals that the file then left are for another one.
  const isCarriedOut = held?.approvedBy === step.sequence
  const accept = manifest.file(step.import)
  if (held === undefined || accept === undefined || isCarriedOut) {
    if (!isCarriedOut)
      log.info({ feed: feed.name, import: step.import }, 'nothing of this import is held any more')
    await book.update({ applied })
    return undefined
  }
  if (step.decision === 'approve' && held.kind === 'file')
    return bypassHold(context, { all, held, claim: accept.claim, by: step.sequence })
  if (step.decision === 'approve') await applyRemovals(context, accept)
  const rest = all.filter((each) => each !== held)
  await book.update({
    applied,
    held: { feed: feed.name, value: formatHeld(rest) },
    // The index counts the products of the feed.
    ...(held.kind === 'removals'
      ? { heldIds: { feed: feed.name, clear: true }, known: { feed: feed.name, value: undefined } }
      : {}),
    forgetCounts: accept.claim,
  })
  return undefined
}

interface Bypassing {
  all: readonly Held[]
  held: Held
  claim: string
  by: AcceptSequence
}

async function bypassHold({ feed, book }: FeedContext, { all, held, claim, by }: Bypassing) {
  const rewindTo = (held.sequence - 1) as AcceptSequence
  const value = formatHeld(all.map((each) => (each === held ? { ...each, approvedBy: by } : each)))
  await book.update({
    rewind: { scope: feed.name, sequence: rewindTo },
    held: { feed: feed.name, value },
    forgetCounts: claim,
  })
  return { rewindTo }
}
