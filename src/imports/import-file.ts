import { dirname } from 'node:path'
import type { AcceptSequence } from '../lib/brand.ts'
import { FileRefusedError } from '../lib/errors.ts'
import type { WriterChunk } from '../outbox/writer.ts'
import { failedDirOf, removeFailedFile } from '../sources/failed-files.ts'
import type { AcceptLine } from '../sources/model.ts'
import type { FeedContext } from './context.ts'
import { importConsents } from './import-consents.ts'
import { importProducts } from './import-products.ts'
import type { Ending, ImportRun } from './import-run.ts'
import { ImportProgress } from './progress.ts'
import { type ImportReport, ProblemCollector, readReport, reportPaths, writeReport } from './report.ts'
import { emptyTally, type Tally, tallyNames } from './tally.ts'

/**
 * Imports one accepted file: judges it whole, applies its records chunk by chunk, then what it no longer names.
 * Refused files are set aside, held ones wait for the operator. Safe to repeat from the start at any point.
 * `approvedBy`: the decision by which the operator accepted that mapped columns are gone; it is carried out with this.
 */
export async function importFile(
  context: FeedContext,
  accept: AcceptLine,
  { approvedBy }: { approvedBy?: AcceptSequence } = {},
): Promise<ImportReport> {
  const { clock, archive } = context
  const source = await archive.sourceOf(accept)
  using turn = context.turns.begin(source.bytes)
  const run: ImportRun = {
    context,
    accept,
    approvedBy,
    ...source,
    turn,
    startedMs: clock.monotonic(),
    problems: new ProblemCollector(),
    progress: new ImportProgress({ ...accept, bytes: source.bytes }, clock),
  }
  return await finish(run, await decide(run))
}

async function decide(run: ImportRun): Promise<Ending> {
  try {
    return run.context.feed.kind === 'consents' ? await importConsents(run) : await importProducts(run)
  } catch (error) {
    if (!(error instanceof FileRefusedError)) throw error
    const refused: Ending = { outcome: 'refused', reason: error.message }
    return error.hint === undefined ? refused : { ...refused, hint: error.hint }
  }
}

/** Writes down the outcome: Redis first (applied), then the manifest and the report, which a repeat writes again. */
async function finish(run: ImportRun, { held, counted, ...ending }: Ending): Promise<ImportReport> {
  const { context, accept, approvedBy, problems, startedMs } = run
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
    changes: { ...(await readTally(context, accept.sequence)), ...counted },
    warnings: [],
    problems: problems.summaries(),
    ...ending,
  }
  await writeReport(reportPaths(reportsDir, accept).report, report)
  if (accept.grownFrom !== undefined) {
    const folder = failedDirOf(dirname(reportsDir), feed.name)
    await removeFailedFile(folder, { claim: accept.grownFrom, name: accept.name })
  }
  if (ending.outcome === 'refused') {
    await archive.failFile(accept, report, { onPart: () => work.advance(), signal })
  }
  await manifest.append([
    { kind: 'outcome', of: accept.sequence, outcome: ending.outcome, at: report.finishedAt },
  ])
  const decidesHeld = held !== undefined || ending.removals !== undefined || approvedBy !== undefined
  await settle(context, {
    accept,
    applied: approvedBy ?? accept.sequence,
    ...(decidesHeld ? { held: { feed: feed.name, value: held && JSON.stringify(held) } } : {}),
  })
  return report
}

/** A refused file whose outcome stands in the manifest, but not in Redis. Its report is there, unless somebody removed it. */
export async function passRefused(
  context: FeedContext,
  accept: AcceptLine,
): Promise<ImportReport | undefined> {
  await settle(context, { accept, applied: accept.sequence })
  return readReport(reportPaths(context.reportsDir, accept).report)
}

interface Settling extends Pick<WriterChunk, 'held'> {
  accept: AcceptLine
  applied: AcceptSequence
}

/** Nothing of the import is left to do. */
async function settle({ feed, writer }: FeedContext, { accept, applied, ...held }: Settling): Promise<void> {
  await writer.update([], () => ({
    writes: [],
    applied: { scope: feed.name, sequence: applied },
    progress: { feed: feed.name, value: undefined },
    forgetCounts: { sequence: accept.sequence, names: tallyNames },
    ...held,
  }))
}

async function readTally({ connection, keys }: FeedContext, sequence: number): Promise<Tally> {
  const counts = await connection.hmget(keys.counts, ...tallyNames.map((name) => `${sequence}:${name}`))
  const tally = emptyTally()
  tallyNames.forEach((name, index) => {
    tally[name] = Number(counts[index] ?? 0)
  })
  return tally
}
