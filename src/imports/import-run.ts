import { describeDialect } from '../records/describe-dialect.ts'
import type { Judgement } from '../records/judge.ts'
import { holdSmall } from '../records/read-file.ts'
import { openRejectsWriter, type RejectsWriter } from '../records/rejects-writer.ts'
import type { AcceptLine } from '../sources/model.ts'
import { checkCount } from './check-expectation.ts'
import { type FeedContext, type Held, type StepContext, spillDirOf } from './context.ts'
import type { ImportTurn } from './import-turns.ts'
import type { OpenOptions, UnboundFile } from './open-feed-file.ts'
import type { ImportProgress } from './progress.ts'
import type { OverriddenRecords } from './record-fates.ts'
import { type ImportReport, type ProblemCollector, rejectsPath } from './report.ts'

export interface ImportRun<Context extends StepContext = FeedContext> {
  context: Context
  accept: AcceptLine
  /** The decision by which the operator let a held file in. */
  approvedBy: number | undefined
  /** Approved, or applied before: it is neither held as a whole nor late, whatever the mirror or the configuration says now. */
  bypassesHold: boolean
  path: string
  /** To be read; fewer than were accepted when the archive holds the file compressed. */
  bytes: number
  turn: ImportTurn
  startedMs: number
  problems: ProblemCollector
  progress: ImportProgress
}

/** Counted anew by each pass over the file, unlike changes, of which a repeated pass finds only the rest. */
export interface Applied {
  /** Records that were applied and changed nothing. */
  unchanged: number
  /** Records that a later one with the same id replaces. */
  superseded: number
  incomplete: number
  overridden: OverriddenRecords
}

export type Ending = Partial<ImportReport> &
  Pick<ImportReport, 'outcome'> & {
    held?: Held
    /** Left out where nothing was applied. */
    counted?: Pick<Applied, 'superseded' | 'incomplete' | 'overridden'>
    /** A full file was applied: what is held of earlier ones is void. */
    supersedes?: boolean
  }

/** The first pass over the file, as its kind is opened. */
export async function judge<Opened extends { judgement: Judgement }>(
  run: ImportRun<StepContext>,
  open: (options: Omit<OpenOptions, 'openKnown' | 'listener'>) => Promise<Opened>,
): Promise<Opened> {
  const { context, accept, path, bytes, progress, bypassesHold: isLenient } = run
  const { feed, book, work, signal } = context
  const onProgress = (bytesRead: number) => {
    work.advance()
    const value = progress.update({ phase: 'judging', bytesRead })
    // Not waited for: progress is for people, and a store that fails says so at the next transaction.
    if (value) book.update({ progress: { feed: feed.name, value } }).catch(() => undefined)
  }
  const source = holdSmall({
    path,
    bytes,
    name: accept.name,
    onProgress,
    signal,
    spillDir: spillDirOf(context),
  })
  const opened = await open({ feed, mode: accept.mode, source, isLenient })
  checkCount(run, opened.judgement)
  return opened
}

/** Of columns that a header lacks; a feed with a key maps that in place of the id. */
export function listMissing(missing: UnboundFile['missingColumns'], idField = 'product_id'): string {
  const list = missing.map(({ column, field, suggestion }) => {
    const meant = suggestion === undefined ? '' : `, did you mean "${suggestion}"?`
    return `"${column}" (for ${field === 'product_id' ? idField : field})${meant}`
  })
  return list.join('; ')
}

const listedColumnsMax = 30
const listedCharactersMax = 60

/** What is no text at all may have been read as a header: nothing of it reaches a terminal as it is. */
export function listColumns(columns: readonly string[]): string {
  const shown = columns.slice(0, listedColumnsMax).map((column) => {
    const text = column.replace(/\p{C}/gu, '\ufffd')
    return text.length > listedCharactersMax ? `"${text.slice(0, listedCharactersMax)}…"` : `"${text}"`
  })
  const more = columns.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

export function describeJudgement({ records, grouping, warnings, dialect }: Judgement) {
  const counted = grouping ? { records, rows: grouping.rows } : { records }
  return { ...counted, warnings: [...warnings], dialect: describeDialect(dialect) }
}

export function openRejects(
  { context, accept }: ImportRun<StepContext>,
  judgement: Judgement,
): RejectsWriter {
  const { reportsDir, feed } = context
  const path = rejectsPath(accept, { reportsDir, dialect: judgement.dialect, files: feed.files })
  return openRejectsWriter({ ...judgement, path })
}

/** Adds where the rejected records stand, and how many of them do not. */
export function withRejects(
  ending: Ending,
  { path, count, leftOut, leftOutFromLine }: Omit<RejectsWriter, 'write' | typeof Symbol.asyncDispose>,
): Ending {
  if (count === 0) return ending
  if (leftOut === 0) return { ...ending, rejectsFile: path }
  const warning = `the file of rejected records is full: it lacks ${leftOut} of them, the first from line ${leftOutFromLine}; correct these where the file comes from, and drop a whole file again`
  return {
    ...ending,
    rejectsFile: path,
    rejectsLeftOut: leftOut,
    warnings: [...(ending.warnings ?? []), warning],
  }
}
