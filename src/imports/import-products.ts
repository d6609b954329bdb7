import { ConfigError, FileRefusedError } from '../lib/errors.ts'
import { IdTableBuilder } from '../records/id-table.ts'
import type { Judgement } from '../records/judge.ts'
import { type AbsentProducts, absentProducts } from './absent-products.ts'
import { applyKeyedRecords, applyRecords } from './apply-records.ts'
import { readHeld, reasonToHold } from './context.ts'
import { FileTime } from './file-time.ts'
import { isWholeFeed, reasonToHoldFile } from './hold-file.ts'
import {
  describeJudgement,
  type Ending,
  type ImportRun,
  judge,
  listColumns,
  listMissing,
  openRejects,
  withRejects,
} from './import-run.ts'
import { beginKnownRecords, openKnownRecords, saveKnownRecords, startThreads } from './known-index.ts'
import type { KnownRecords } from './known-records.ts'
import {
  type OpenOptions,
  openProducts,
  type ProductFile,
  type Reading,
  type UnboundFile,
} from './open-feed-file.ts'
import { applyRemovals, findRemovals } from './removals.ts'

/** A file of products: what it says, then what it no longer names. Throws FileRefusedError when it says nothing. */
export async function importProducts(run: ImportRun): Promise<Ending> {
  const time = new FileTime(run)
  return time.describe(time.late() ?? (await importTimed(run, time)))
}

async function importTimed(run: ImportRun, time: FileTime): Promise<Ending> {
  let known: KnownRecords | string | undefined
  const opened = await judge(run, async (options) => {
    using threads = startThreads(run)
    const openKnown = async (reading: Reading) => {
      known = isWholeFeed(run.accept, reading) ? await openKnownRecords(run, reading, threads) : undefined
      return typeof known === 'object' ? known : undefined
    }
    return await openOrRefuse({ ...options, listener: time, openKnown })
  })
  const late = time.late()
  if (late) return { ...describeJudgement(opened.judgement), ...late }
  if (opened.kind !== 'products') return await holdFile(run, opened)
  const ending = await applyFile(run, opened, typeof known === 'object' ? known : undefined)
  if (known === undefined || ending.outcome === 'held') return ending
  return { ...ending, skipped: typeof known === 'object' ? known.describe() : { records: 0, because: known } }
}

/** A table that cannot be read concerns the files that need it, and no others: they are refused. */
async function openOrRefuse(options: OpenOptions): Promise<ProductFile | UnboundFile> {
  try {
    return await openProducts(options)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const { code, message, hint = 'Correct the table' } = error
    throw new FileRefusedError(code, `${options.source.name}: ${message}`, { hint, cause: error })
  }
}

/** A mapped column is gone: nothing is applied until the operator says so. Without the id nothing can be. */
function holdFile(run: ImportRun, { judgement, missingColumns: missing }: UnboundFile): Promise<Ending> {
  const { context, accept } = run
  const idField = context.feed.key ?? 'product_id'
  const reason = `the header has no column ${listMissing(missing, idField)}; it has ${listColumns(judgement.columns)}`
  const needed = missing.find(({ field }) => field === 'product_id' || field === 'group')
  if (needed) {
    const [code, key] =
      needed.field === 'group' ? ['no-group-column', 'group'] : ['no-id-column', `fields.${idField}`]
    throw new FileRefusedError(code, `${accept.name}: ${reason}`, {
      hint: `Correct ${key} in the configuration, or the file, and drop it again`,
    })
  }
  const hint = `Correct the file or the configuration and drop it again; or approve ${accept.sequence} to import it without these columns`
  return holdWhole(run, judgement, { reason, hint })
}

/** More files of a feed would wait for the operator than anybody looks through. */
const heldFilesMax = 100

/** Nothing of the file is applied until the operator says so. */
async function holdWhole(
  { context, accept }: ImportRun,
  judgement: Judgement,
  { reason, hint }: { reason: string; hint: string },
): Promise<Ending> {
  const held = readHeld(context)
  const others = held.filter(({ kind, sequence }) => kind === 'file' && sequence !== accept.sequence)
  if (others.length >= heldFilesMax) {
    throw new FileRefusedError(
      'held-too-many',
      `${accept.name}: ${reason}; and ${others.length} files of the feed are held`,
      {
        hint: 'Approve or discard the held files (catalogd status), then drop this one again',
      },
    )
  }
  const { sequence, name: file } = accept
  const at = new Date(context.clock.now()).toISOString()
  const mode = isWholeFeed(accept, judgement) ? 'full' : 'delta'
  return {
    ...describeJudgement(judgement),
    outcome: 'held',
    reason,
    hint,
    held: { kind: 'file', mode, sequence, file, at, reason },
  }
}

async function applyFile(
  run: ImportRun,
  opened: ProductFile,
  known: KnownRecords | undefined,
): Promise<Ending> {
  const { context, accept, problems, progress } = run
  context.onApplying?.(accept)
  const file = { ...opened, select: known?.select, places: known?.places }
  const { feed } = context
  const { judgement } = file
  const isWhole = isWholeFeed(accept, judgement)
  await using rejects = openRejects(run, judgement)
  const held = readHeld(context)
  // A new full file decides anew what is missing; until it has, nothing of the old decision is taken back.
  const hasHeld = held.some(({ kind }) => kind === 'removals')
  progress.update({ phase: 'applying', bytesRead: 0 })
  const options = { ...run, file, rejects, hasHeld }
  if (!run.bypassesHold) {
    const reason = await reasonToHoldFile({ ...options, known })
    const hint = `Nothing of it was applied: approve ${accept.sequence} if that is right, or discard ${accept.sequence} and drop a corrected file; a later full file takes its place`
    if (reason !== undefined) return await holdWhole(run, judgement, { reason, hint })
    progress.update({ phase: 'applying', bytesRead: 0 })
  }
  const found = await IdTableBuilder.open()
  if (isWhole) await beginKnownRecords(run, known)
  const { unchanged, ...counted } =
    feed.key === undefined
      ? await applyRecords({ ...options, known })
      : await applyKeyedRecords({ ...options, key: feed.key, found })
  const applying: Ending = {
    ...describeJudgement(judgement),
    outcome: 'imported',
    unchanged: unchanged + (known?.skipped ?? 0),
    counted,
    // A file that says of no product what it is leaves what waits for the operator waiting.
    supersedes: isWhole && judgement.records > problems.rejected,
  }
  const ending = withRejects(applying, rejects)
  const countsMissing = isWhole && feed.missing.action === 'out_of_stock'
  const absentOf = absentProducts(context, { ids: judgement.ids, found })
  // Awaited here: closing the rejects file may fail, and nothing may still be running then.
  const ended = countsMissing ? await removeMissing(run, { judgement, absentOf, ending, known }) : ending
  if (known) await saveKnownRecords(run, known, { keepsAbsent: ended.outcome === 'held' })
  return ended
}

interface Removing {
  judgement: Judgement
  absentOf: AbsentProducts
  ending: Ending
  known: KnownRecords | undefined
}

async function removeMissing(
  run: ImportRun,
  { judgement, absentOf, ending, known }: Removing,
): Promise<Ending> {
  const { context, accept, problems } = run
  const { feed, clock } = context
  const removals = await findRemovals(context, absentOf, known)
  const reason = reasonToHold({
    removals,
    atMost: feed.missing.atMost,
    records: judgement.records,
    rejected: problems.rejected,
    rejectsAtMost: feed.rejects.atMost,
    unreadableIds: judgement.unreadableIds,
  })
  if (reason === undefined) {
    await applyRemovals(context, accept)
    return { ...ending, removals: { ...removals, held: false } }
  }
  const at = new Date(clock.now()).toISOString()
  return {
    ...ending,
    outcome: 'held',
    reason,
    hint: `Everything else was imported; approve ${accept.sequence} to mark the missing products out of stock, or discard ${accept.sequence}`,
    removals: { ...removals, held: true },
    held: {
      ...{ kind: 'removals', sequence: accept.sequence, file: accept.name, at, reason, ...removals },
      ...(run.approvedBy === undefined ? {} : { approvedBy: run.approvedBy }),
    },
  }
}
