import type { ManifestView } from '../sources/manifest-index.ts'
import type { AcceptLine, OutcomeLine } from '../sources/model.ts'
import { readHeld, type StepContext } from './context.ts'
import { holdAgain, passUnapplied } from './import-file.ts'
import type { ImportReport } from './report.ts'

type Passed = { isPassed: false } | { isPassed: true; report: ImportReport | undefined }

/**
 * Settles a file of which nothing was applied when it was imported before: the mirror lost how it ended, or the feed
 * went back for an approved file. Neither may let in what was kept out: how much a file would change depends on what is
 * stored, and in a replay other feeds may not have come as far as they had.
 */
export async function passAgain(context: StepContext, accept: AcceptLine): Promise<Passed> {
  const { manifest } = context
  const before = manifest.outcome(accept.sequence)
  if (before === undefined) return { isPassed: false }
  if (staysOut(before, manifest)) return { isPassed: true, report: await passUnapplied(context, accept) }
  const { whole: mode, at } = before
  if (mode === undefined) return { isPassed: false }
  // A file that is known to be held is judged anew: it may fit in after the one that was approved.
  const isKnown = readHeld(context).some(({ sequence }) => sequence === accept.sequence)
  if (isKnown) return { isPassed: false }
  return { isPassed: true, report: await holdAgain(context, accept, { at, mode }) }
}

/** Refused, late, or discarded as a whole: the first decision about a held file is the one that was carried out. */
export function staysOut(
  { outcome, whole, of }: OutcomeLine,
  manifest: Pick<ManifestView, 'decisions'>,
): boolean {
  if (outcome === 'refused' || outcome === 'late') return true
  if (whole === undefined) return false
  const decided = manifest
    .decisions()
    .find((line) => (line.decision === 'approve' || line.decision === 'discard') && line.import === of)
  return decided?.decision === 'discard'
}
