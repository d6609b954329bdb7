import { dirname } from 'node:path'
import type { FeedMode } from '../config/model.ts'
import { FileRefusedError } from '../lib/errors.ts'
import type { MirrorChunk } from '../mirror/model.ts'
import { failedDirOf, removeFailedFile } from '../sources/layout.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { AcceptLine, OutcomeLine } from '../sources/model.ts'
import { checkExpectation } from './check-expectation.ts'
import { formatHeld, heldAfter, readHeld, type StepContext } from './context.ts'
import type { FullFile } from './file-time.ts'
import type { Ending, ImportRun } from './import-run.ts'
import { appliedStep } from './manifest-steps.ts'
import { describeRefusal } from './open-feed-file.ts'
import { ImportProgress } from './progress.ts'
import { fatesOf } from './record-fates.ts'
import { type ImportReport, ProblemCollector, readReport, reportPath, writeReport } from './report.ts'
import { emptyTally, type Tally, tallyNames } from './tally.ts'

type ImportRecords<Context extends StepContext> = (run: ImportRun<Context>) => Promise<Ending>

/**
 * Imports one accepted file: judges it whole, applies its records chunk by chunk, then what it no longer names.
 * Refused files are set aside, held ones wait for the operator. Safe to repeat from the start at any point.
 * A file that the operator has approved is not held once more. `importRecords` is how files of this kind are applied.
 */
export async function importFile<Context extends StepContext>(
  context: Context,
  accept: AcceptLine,
  importRecords: ImportRecords<Context>,
): Promise<ImportReport> {
  const { clock, archive, manifest } = context
  const approved = readHeld(context).find(({ sequence }) => sequence === accept.sequence)
  const wasApplied = manifest.outcome(accept.sequence)?.outcome === 'imported'
  const source = await archive.sourceOf(accept)
  using turn = context.turns.begin(source.bytes)
  const run: ImportRun<Context> = {
    context,
    accept,
    approvedBy: approved?.approvedBy,
    bypassesHold: wasApplied || approved?.approvedBy !== undefined,
    ...source,
    turn,
    startedMs: clock.monotonic(),
    problems: new ProblemCollector(),
    progress: new ImportProgress({ ...accept, bytes: source.bytes }, clock),
  }
  return await finish(run, await decide(run, importRecords))
}

async function decide<Context extends StepContext>(
  run: ImportRun<Context>,
  importRecords: ImportRecords<Context>,
): Promise<Ending> {
  try {
    refuseGivenUp(run)
    await checkExpectation(run)
    return await importRecords(run)
  } catch (error) {
    if (!(error instanceof FileRefusedError)) throw error
    return { outcome: 'refused', ...describeRefusal(run.context.feed, error) }
  }
}

/** Its import failed twice as nobody expected. The others must go on; what is wrong stands in the log. */
function refuseGivenUp({ context, accept }: ImportRun<StepContext>): void {
  const failure = context.unexpectedFailures.givenUp(accept)
  if (!failure) return
  const reason = `${accept.name}: its import failed ${failure.times} times in a way that catalogd does not expect, the last time with ${failure.reason}`
  throw new FileRefusedError('unexpected', reason, {
    hint: 'That is an error of catalogd: report it with the log. What had been applied of the file stays; drop it again to try it once more',
  })
}

/** Writes down the outcome: the report, the manifest, and last that it is applied; a repeat writes all of it again. */
async function finish(
  run: ImportRun<StepContext>,
  { held, counted, supersedes = false, ...ending }: Ending,
): Promise<ImportReport> {
  const { context, accept, problems, startedMs } = run
  const { sequence } = accept
  const { clock, feed, work, signal, manifest, archive, reportsDir } = context
  const report: ImportReport = {
    sequence: accept.sequence,
    ...(feed.kind === 'consents' ? { kind: feed.kind } : {}),
    feed: feed.name,
    file: accept.name,
    bytes: accept.bytes,
    mode: accept.mode,
    acceptedAt: accept.acceptedAt,
    finishedAt: new Date(clock.now()).toISOString(),
    seconds: Math.round(clock.monotonic() - startedMs) / 1000,
    records: 0,
    rejected: problems.rejected,
    warned: problems.warned,
    unchanged: 0,
    changes: { ...readTally(context, accept.claim), ...pickCounted(counted) },
    warnings: [],
    problems: problems.summaries(),
    issues: problems.counts(),
    ...ending,
  }
  if (ending.outcome !== 'refused') Object.assign(report, describeFates(report, counted))
  await writeReport(reportPath(reportsDir, accept), report)
  if (accept.grownFrom !== undefined) {
    const folder = failedDirOf(dirname(reportsDir), feed.name)
    await removeFailedFile(folder, { claim: accept.grownFrom, name: accept.name })
  }
  if (ending.outcome === 'refused') {
    await archive.failFile(accept, report, { onPart: () => work.advance(), signal })
  }
  await manifest.append([
    {
      ...{ kind: 'outcome', of: sequence, outcome: ending.outcome, at: report.finishedAt },
      ...(ending.asOf === undefined || accept.isDated ? {} : { asOf: ending.asOf }),
      ...(held?.kind === 'file' ? { whole: held.mode } : {}),
    },
  ])
  const holding = heldAfter(readHeld(context), { sequence, supersedes, held })
  const full: FullFile | undefined =
    supersedes && ending.asOf !== undefined ? { sequence, file: accept.name, asOf: ending.asOf } : undefined
  await settle(context, {
    accept,
    held: { feed: feed.name, value: formatHeld(holding) },
    ...(full ? { fullAsOf: { feed: feed.name, value: JSON.stringify(full) } } : {}),
  })
  context.unexpectedFailures.forget(accept)
  return report
}

function pickCounted(counted: Ending['counted']): Partial<Tally> {
  return counted ? { superseded: counted.superseded, incomplete: counted.incomplete } : {}
}

function describeFates(
  { records, changes, rejected, skipped, issues }: ImportReport,
  counted: Ending['counted'],
): Pick<ImportReport, 'became' | 'overridden'> {
  const fields = counted?.overridden.fields ?? []
  const became = fatesOf({
    ...{ records, changes, rejected, overridden: counted?.overridden.count ?? 0 },
    ...{ skipped: skipped?.records ?? 0, leftOut: issues['transform-skipped'] ?? 0 },
    isApplied: counted !== undefined,
  })
  return { became, ...(fields.length === 0 ? {} : { overridden: fields }) }
}

/** A file that stays out. Its report is there, unless somebody removed it. */
async function passUnapplied(context: StepContext, accept: AcceptLine): Promise<ImportReport | undefined> {
  await settle(context, { accept })
  return readReport(reportPath(context.reportsDir, accept))
}

/** A file that the mirror no longer knows to be held: it waits for its decision again, whatever it would change now. */
async function holdAgain(
  context: StepContext,
  accept: AcceptLine,
  { at, mode }: { at: string; mode: FeedMode },
): Promise<ImportReport | undefined> {
  const { feed, reportsDir } = context
  const { sequence, name: file } = accept
  const report = await readReport(reportPath(reportsDir, accept))
  const reason = report?.reason ?? 'it was held before; its report is gone'
  const held = { kind: 'file' as const, mode, sequence, file, at, reason }
  const holding = heldAfter(readHeld(context), { sequence, supersedes: false, held })
  await settle(context, { accept, held: { feed: feed.name, value: formatHeld(holding) } })
  return report
}

interface Settling extends Pick<MirrorChunk, 'held' | 'fullAsOf'> {
  accept: AcceptLine
}

/** Nothing of the import is left to do. */
async function settle({ feed, book }: StepContext, { accept, ...holding }: Settling): Promise<void> {
  await book.update({
    applied: appliedStep(feed.name, accept),
    progress: { feed: feed.name, value: undefined },
    forgetCounts: accept.claim,
    ...holding,
  })
}

function readTally({ book }: StepContext, claim: string): Tally {
  const counts = book.counts(claim)
  const tally = emptyTally()
  for (const name of tallyNames) tally[name] = counts[name] ?? 0
  return tally
}

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
