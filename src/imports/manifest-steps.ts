import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import type { StepKey } from '../mirror/model.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { AcceptLine, DecisionLine } from '../sources/model.ts'
import type { ImportBook } from './context.ts'

/** What becomes of the catalog in accept order: a file to import, or a decision to carry out. */
export type ImportStep = AcceptLine | DecisionLine

/** One feed's steps, or the decisions about the catalog (`*`). */
export type Scope = FeedName | '*'

/** What is remembered of a step once it is applied. */
export function appliedStep(scope: Scope, step: ImportStep) {
  return { scope, sequence: step.sequence, key: keyOf(step) }
}

/** Unlike its sequence, no other manifest has it. */
export function keyOf(step: ImportStep): StepKey {
  return step.kind === 'accept' ? step.claim : step.request
}

/**
 * Where a scope's next step is looked for: behind the newest step that was applied and that stands in this
 * manifest under the same number. A manifest that came back from a backup may have other steps behind that.
 */
export function appliedUpTo(
  book: Pick<ImportBook, 'applied'>,
  manifest: ManifestView,
  scope: Scope,
): AcceptSequence | 0 {
  for (const { sequence, key } of book.applied(scope)) {
    const [step] = manifest.after((sequence - 1) as AcceptSequence)
    if (step?.sequence === sequence && keyOf(step) === key) return step.sequence
  }
  return 0
}

interface StepsOptions {
  book: Pick<ImportBook, 'isApplied'>
  manifest: ManifestView
  scope: Scope
  after: AcceptSequence | 0
}

/** The steps of a scope that are not applied. `onPassed` is told of each line that is read, whosever it is. */
export function* stepsAfter(
  { book, manifest, scope, after }: StepsOptions,
  onPassed: (sequence: AcceptSequence) => void = () => undefined,
): Generator<ImportStep> {
  for (const step of manifest.after(after, scope)) {
    onPassed(step.sequence)
    if (scopeOf(step, manifest) === scope && !book.isApplied(keyOf(step))) yield step
  }
}

/** Undefined: of a feed that is no longer known. */
function scopeOf(step: ImportStep, manifest: ManifestView): Scope | undefined {
  if (step.kind === 'accept') return step.feed
  const isOfFeed = step.decision === 'approve' || step.decision === 'discard'
  return isOfFeed ? manifest.file(step.import)?.feed : '*'
}
