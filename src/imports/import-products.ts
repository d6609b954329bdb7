import { type BoundMapping, compileMapping, type MissingColumn } from '../catalog/mapping.ts'
import { FileRefusedError } from '../lib/errors.ts'
import type { Judgement } from '../records/judge.ts'
import { reasonColumn } from '../records/model.ts'
import { openRejectsWriter } from '../records/rejects-writer.ts'
import { applyRecords } from './apply-records.ts'
import { parseHeld, reasonToHold } from './held.ts'
import { describeJudgement, type Ending, type ImportRun, judge, listColumns } from './import-run.ts'
import { applyRemovals, findRemovals } from './removals.ts'
import { reportPaths } from './report.ts'

/** A file of products: what it says, then what it no longer names. Throws FileRefusedError when it says nothing. */
export async function importProducts(run: ImportRun): Promise<Ending> {
  const { context, accept, approvedBy } = run
  const mapping = compileMapping({ feed: context.feed, mode: accept.mode })
  const judgement = await judge(run, {
    neededColumns: mapping.neededColumns,
    idReaderOf: (columns) => {
      const binding = mapping.bindLeniently(columns)
      return binding.kind === 'bound' ? binding.bound.idReader : undefined
    },
  })
  const { columns } = judgement
  const binding = approvedBy === undefined ? mapping.bind(columns) : mapping.bindLeniently(columns)
  return binding.kind === 'bound'
    ? await applyFile(run, judgement, binding.bound)
    : holdFile(run, judgement, binding.missingColumns)
}

/** A mapped column is gone: nothing is applied until the operator says so. Without the id nothing can be. */
function holdFile(
  { context, accept }: ImportRun,
  judgement: Judgement,
  missing: readonly MissingColumn[],
): Ending {
  const list = missing.map(({ column, field, suggestion }) => {
    return `"${column}" (for ${field})${suggestion === undefined ? '' : `, did you mean "${suggestion}"?`}`
  })
  const reason = `the header has no column ${list.join('; ')}; it has ${listColumns(judgement.columns)}`
  const needed = missing.find(({ field }) => field === 'product_id' || field === 'group')
  if (needed) {
    const [code, key] =
      needed.field === 'group' ? ['no-group-column', 'group'] : ['no-id-column', 'fields.product_id']
    throw new FileRefusedError(code, `${accept.name}: ${reason}`, {
      hint: `Correct ${key} in the configuration, or the file, and drop it again`,
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

async function applyFile(run: ImportRun, judgement: Judgement, mapping: BoundMapping): Promise<Ending> {
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

async function removeMissing(run: ImportRun, judgement: Judgement, ending: Ending): Promise<Ending> {
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
