import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import type { AcceptLine, DecisionLine } from '../sources/model.ts'

/** What becomes of the catalog in accept order: a file to import, or a decision to carry out. */
export type ImportStep = AcceptLine | DecisionLine

/** Which row of steps a line belongs to (`*`: the catalog's); undefined: of a feed that is no longer configured or known. */
export function scopeOf(
  step: ImportStep,
  feedOf: (sequence: AcceptSequence) => FeedName | undefined,
): FeedName | '*' | undefined {
  if (step.kind === 'accept') return step.feed
  return step.decision === 'approve' || step.decision === 'discard' ? feedOf(step.import) : '*'
}
