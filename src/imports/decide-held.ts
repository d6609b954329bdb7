import type { AcceptSequence } from '../lib/brand.ts'
import type { DecisionLine } from '../sources/model.ts'
import type { FeedContext } from './context.ts'
import { formatHeld, type Held } from './held.ts'
import { readHeld } from './read-held.ts'
import { applyRemovals } from './removals.ts'
import { tallyNames } from './tally.ts'

/**
 * Approve or discard: acts only on what is still held of that very import. An approved file is applied as if it had
 * never been held, and the feed's later files after it once more: answers the step from which the feed then goes on
 * (exclusive), or undefined. Safe to repeat.
 */
export async function decideHeld(
  context: FeedContext,
  step: DecisionLine,
): Promise<{ rewindTo: AcceptSequence } | undefined> {
  const { feed, writer, log } = context
  if (step.decision !== 'approve' && step.decision !== 'discard') return undefined
  const all = await readHeld(context)
  const held = all.find(({ sequence }) => sequence === step.import)
  // What the feed comes to again after it went back for this decision; removals that the file then left are for another one.
  const isCarriedOut = held?.approvedBy === step.sequence
  if (held === undefined || isCarriedOut) {
    if (!isCarriedOut)
      log.info({ feed: feed.name, import: step.import }, 'nothing of this import is held any more')
    await writer.update([], () => ({ writes: [], applied: { scope: feed.name, sequence: step.sequence } }))
    return undefined
  }
  if (step.decision === 'approve' && held.kind === 'file')
    return letIn(context, { all, held, by: step.sequence })
  if (step.decision === 'approve') await applyRemovals(context, held.sequence)
  const rest = all.filter((each) => each !== held)
  await writer.update([], () => ({
    writes: [],
    applied: { scope: feed.name, sequence: step.sequence },
    held: { feed: feed.name, value: formatHeld(rest) },
    ...(held.kind === 'removals' ? { heldIds: { feed: feed.name, clear: true } } : {}),
    forgetCounts: { sequence: held.sequence, names: tallyNames },
  }))
  context.onOffered()
  return undefined
}

interface LettingIn {
  all: readonly Held[]
  held: Held
  by: AcceptSequence
}

async function letIn({ feed, writer }: FeedContext, { all, held, by }: LettingIn) {
  const rewindTo = (held.sequence - 1) as AcceptSequence
  const value = formatHeld(all.map((each) => (each === held ? { ...each, approvedBy: by } : each)))
  await writer.update([], () => ({
    writes: [],
    applied: { scope: feed.name, sequence: rewindTo },
    held: { feed: feed.name, value },
    forgetCounts: { sequence: held.sequence, names: tallyNames },
  }))
  return { rewindTo }
}
