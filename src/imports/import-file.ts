import { dirname } from 'node:path'
import { type BoundMapping, compileMapping, type Mapping, type MissingColumn } from '../catalog/mapping.ts'
import type { AcceptSequence } from '../lib/brand.ts'
import { FileRefusedError } from '../lib/errors.ts'
import type { WriterChunk } from '../outbox/writer.ts'
import { describeDialect } from '../records/describe-dialect.ts'
import { type Judgement, judgeFile } from '../records/judge.ts'
import { reasonColumn } from '../records/model.ts'
import { openRejectsWriter } from '../records/rejects-writer.ts'
import { failedDirOf, removeFailedFile } from '../sources/failed-files.ts'
import type { AcceptLine } from '../sources/model.ts'
import { type Applied, applyRecords } from './apply-records.ts'
import type { FeedContext } from './context.ts'
import { type Held, parseHeld, reasonToHold } from './held.ts'
import type { ImportTurn } from './import-turns.ts'
import { ImportProgress } from './progress.ts'
import { applyRemovals, findRemovals } from './removals.ts'
import { type ImportReport, ProblemCollector, readReport, reportPaths, writeReport } from './report.ts'
import { emptyTally, type Tally, tallyNames } from './tally.ts'

interface Run {
  context: FeedContext
  accept: AcceptLine
  approvedBy: AcceptSequence | undefined
  path: string
  /** To be read; fewer than were accepted when the archive holds the file compressed. */
  bytes: number
  turn: ImportTurn
  startedMs: number
  problems: ProblemCollector
  progress: ImportProgress
}

/** How an import ends, before it is written down. */
type Ending = Partial<ImportReport> &
  Pick<ImportReport, 'outcome'> & { held?: Held; counted?: Pick<Applied, 'superseded' | 'incomplete'> }

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
  const run: Run = {
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

async function decide(run: Run): Promise<Ending> {
  const { context, accept, approvedBy } = run
  try {
    const mapping = compileMapping({ feed: context.feed, mode: accept.mode })
    const judgement = await judge(run, mapping)
    const { columns } = judgement
    const binding = approvedBy === undefined ? mapping.bind(columns) : mapping.bindLeniently(columns)
    return binding.kind === 'bound'
      ? await applyFile(run, judgement, binding.bound)
      : holdFile(run, judgement, binding.missingColumns)
  } catch (error) {
    if (!(error instanceof FileRefusedError)) throw error
    const refused: Ending = { outcome: 'refused', reason: error.message }
    return error.hint === undefined ? refused : { ...refused, hint: error.hint }
  }
}

async function judge({ context, accept, path, bytes, progress }: Run, mapping: Mapping): Promise<Judgement> {
  const { feed, writer, work, signal } = context
  return judgeFile({
    path,
    bytes,
    name: accept.name,
    format: feed.format,
    neededColumns: mapping.neededColumns,
    openIdReader: (columns) => {
      const binding = mapping.bindLeniently(columns)
      return binding.kind === 'bound' ? binding.bound.idReader : undefined
    },
    onProgress: (bytesRead) => {
      work.advance()
      const value = progress.update({ phase: 'judging', bytesRead })
      // Not waited for: progress is for people, and a writer that fails says so at the next transaction.
      if (value)
        writer.update([], () => ({ writes: [], progress: { feed: feed.name, value } })).catch(() => undefined)
    },
    signal,
  })
}

/** A mapped column is gone: nothing is applied until the operator says so. Without the id nothing can be. */
function holdFile({ context, accept }: Run, judgement: Judgement, missing: readonly MissingColumn[]): Ending {
  const list = missing.map(({ column, field, suggestion }) => {
    return `"${column}" (for ${field})${suggestion === undefined ? '' : `, did you mean "${suggestion}"?`}`
  })
  const reason = `the header has no column ${list.join('; ')}; it has ${listColumns(judgement.columns)}`
  if (missing.some(({ field }) => field === 'product_id')) {
    throw new FileRefusedError('no-id-column', `${accept.name}: ${reason}`, {
      hint: 'Correct fields.product_id in the configuration, or the file, and drop it again',
    })
  }
  const at = new Date(context.clock.now()).toISOString()
  return {
    ...describeJudgement(judgement),
    outcome: 'held',
    reason,
    hint: `Correct the file or the configuration and drop it again; or approve ${accept.sequence} to import it without these columns`,
    held: { kind: 'file', sequence: accept.sequence, file: accept.name, at, reason },
  }
}

const listedColumnsMax = 30
const listedCharactersMax = 60

/** What is no text at all may have been read as a header: nothing of it reaches a terminal as it is. */
function listColumns(columns: readonly string[]): string {
  const shown = columns.slice(0, listedColumnsMax).map((column) => {
    const text = column.replace(/\p{C}/gu, '\ufffd')
    return text.length > listedCharactersMax ? `"${text.slice(0, listedCharactersMax)}…"` : `"${text}"`
  })
  const more = columns.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

async function applyFile(run: Run, judgement: Judgement, mapping: BoundMapping): Promise<Ending> {
  const { context, accept, path, bytes, problems, progress } = run
  const { feed, connection, keys, reportsDir } = context
  const paths = reportPaths(reportsDir, accept)
  await using rejects = await openRejectsWriter({ ...judgement, path: paths.rejects })
  const held = parseHeld(await connection.hget(keys.held, feed.name))
  // A new full file decides anew what is missing; until it has, nothing of the old decision is taken back.
  const hasHeld = held?.kind === 'removals'
  progress.update({ phase: 'applying', bytesRead: 0 })
  const options = {
    context,
    accept,
    path,
    bytes,
    judgement,
    mapping,
    rejects,
    problems,
    turn: run.turn,
    progress,
    hasHeld,
  }
  const { unchanged, ...counted } = await applyRecords(options)
  const ending: Ending = {
    ...describeJudgement(judgement),
    outcome: 'imported',
    unchanged,
    counted,
    ...(rejects.count > 0 ? { rejectsFile: paths.rejects } : {}),
  }
  const countsMissing =
    accept.mode === 'full' &&
    feed.missing.action === 'out_of_stock' &&
    !judgement.columns.includes(reasonColumn)
  // Awaited here: closing the rejects file may fail, and nothing may still be running then.
  return countsMissing ? await removeMissing(run, judgement, ending) : ending
}

async function removeMissing(run: Run, judgement: Judgement, ending: Ending): Promise<Ending> {
  const { context, accept, problems } = run
  const { feed, clock } = context
  const removals = await findRemovals(context, judgement.ids)
  const reason = reasonToHold({
    removals,
    atMost: feed.missing.atMost,
    records: judgement.records,
    rejected: problems.rejected,
    rejectsAtMost: feed.rejects.atMost,
    unreadableIds: judgement.unreadableIds,
  })
  if (reason === undefined) {
    await applyRemovals(context, accept.sequence)
    return { ...ending, removals: { ...removals, held: false } }
  }
  const at = new Date(clock.now()).toISOString()
  return {
    ...ending,
    outcome: 'held',
    reason,
    hint: `Everything else was imported; approve ${accept.sequence} to mark the missing products out of stock, or discard ${accept.sequence}`,
    removals: { ...removals, held: true },
    held: { kind: 'removals', sequence: accept.sequence, file: accept.name, at, reason, ...removals },
  }
}

/** Writes down the outcome: Redis first (applied), then the manifest and the report, which a repeat writes again. */
async function finish(run: Run, { held, counted, ...ending }: Ending): Promise<ImportReport> {
  const { context, accept, approvedBy, problems, startedMs } = run
  const { clock, feed, work, signal, manifest, archive, reportsDir } = context
  const report: ImportReport = {
    sequence: accept.sequence,
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

function describeJudgement({ records, warnings, dialect }: Judgement): Partial<ImportReport> {
  return { records, warnings: [...warnings], dialect: describeDialect(dialect) }
}
