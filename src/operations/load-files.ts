import { basename, join } from 'node:path'
import type { FeedConfig } from '../config/model.ts'
import { ConsentReader } from '../consents/reader.ts'
import type { ProgressState } from '../imports/progress.ts'
import { type ImportReport, readReport, reportPath } from '../imports/report.ts'
import { emptyTally, type Tally, tallyNames } from '../imports/tally.ts'
import { type OutboxOverview, readOverview } from '../outbox/overview.ts'
import { compileNameTime } from '../sources/as-of.ts'
import { putFile } from '../sources/inbox.ts'
import { layoutOf } from '../sources/layout.ts'
import { type ManifestReader, readManifest } from '../sources/manifest-reader.ts'
import type { ClaimId } from '../sources/model.ts'
import { openMirror, stateDirOf } from '../storage.ts'
import { consentsStay } from './decide.ts'
import { modeOf, requireFile } from './open-file.ts'
import { findDaemon, type OperationContext, openWorkHere, type WorkHere } from './run-here.ts'

interface LoadOptions extends OperationContext {
  feed: FeedConfig
  files: readonly string[]
  /** Sends every product of the files, changed or not. */
  resend: boolean
  /** Until everything is acknowledged; otherwise only until the files are accepted and imported. */
  waits: boolean
  onProgress: (progress: LoadProgress) => void
}

export interface LoadProgress {
  /** Whose work is shown: a daemon's pid, or undefined for this process. */
  daemonPid: number | undefined
  imported: number
  files: number
  /** Of the import that runs. */
  running: ProgressState | undefined
  overview: OutboxOverview
}

export interface LoadSummary {
  files: ImportReport[]
  records: number
  rejected: number
  unchanged: number
  changes: Tally
  /** Calls made since the load began, of all processes; with `waits` they include all that the files changed. */
  calls: number
  bytes: number
  /** Average share of `callBytes` that calls used, 0..1; null without a call. */
  fill: number | null
  seconds: number
  /** Not acknowledged when the command ended. */
  waiting: number
  dead: number
}

const lookEveryMs = 100
/** A look counts what is unsent, which takes a while where it is much: so little of the time goes into looking. */
const lookShareMax = 0.1

/** As they were named, but for those whose names say as of when they hold: an older one would come late. */
function inOrder(
  files: readonly string[],
  { asOf }: FeedConfig,
): { path: string; asOfMs: number | undefined }[] {
  const timeOf = compileNameTime(asOf)
  const all = files.map((path) => ({ path, asOfMs: timeOf?.(basename(path)) }))
  const isDated = all.every(({ asOfMs }) => asOfMs !== undefined)
  return isDated ? all.sort((a, b) => (a.asOfMs ?? 0) - (b.asOfMs ?? 0)) : all
}

/** Accepts files and follows them until they are imported and, with `waits`, delivered. */
export async function loadFiles(options: LoadOptions): Promise<LoadSummary> {
  const { catalog, clock, feed, files, resend } = options
  if (resend && feed.kind === 'consents') throw consentsStay()
  const startedMs = clock.monotonic()
  const before = (await readFeedState(options)).overview.counters
  for (const file of files) await requireFile(file)
  const reports = await takeIn({
    ...options,
    async put(inboxDir) {
      const claims: ClaimId[] = []
      for (const { path, asOfMs } of inOrder(files, feed)) {
        const mode = modeOf(feed, basename(path))
        claims.push(await putFile({ inboxDir, feed: feed.name, mode, path, resend, asOfMs, clock }))
      }
      return claims
    },
    isDelivered: isAllDelivered,
  })
  const { overview: after } = await readFeedState(options)
  const since = (name: string) => (after.counters[name] ?? 0) - (before[name] ?? 0)
  const [calls, bytes] = [since('calls'), since('bytes')]
  // A call of consents carries one and cannot be fuller.
  const hasFill = calls > 0 && feed.kind === 'products'
  return {
    files: reports,
    ...sumReports(reports),
    calls,
    bytes,
    fill: hasFill ? bytes / (calls * catalog.delivery.callBytes) : null,
    seconds: Math.round(clock.monotonic() - startedMs) / 1000,
    waiting: after.pending - after.dead,
    dead: after.dead,
  }
}

export interface TakingIn extends OperationContext {
  feed: FeedConfig
  /** Until the endpoint has acknowledged it; otherwise only until it is taken in. */
  waits: boolean
  onProgress: (progress: LoadProgress) => void
  /** Puts files into the inbox; nothing is put there when something is wrong that a look can find. */
  put: (inboxDir: string) => Promise<ClaimId[]>
  isDelivered: (overview: OutboxOverview) => boolean | Promise<boolean>
}

/** What a command hands in, followed until it is imported and, with `waits`, delivered. */
export async function takeIn(options: TakingIn): Promise<ImportReport[]> {
  const dir = stateDirOf(options.config, options.catalog.name)
  await requireReady(options)
  const claims = await options.put(layoutOf(dir).inboxDir)
  await using work = await openWorkHere(options, ['watch', 'import', 'deliver'])
  const reports = await followImports(options, { claims, dir, work })
  if (options.waits) await followDelivery(options, { work, files: claims.length })
  return reports
}

/**
 * A file left behind in the inbox would be imported by whoever comes next: what this process will need is asked for
 * before.
 */
async function requireReady({ config, catalog, clock }: TakingIn): Promise<void> {
  if (await findDaemon({ config, clock })) return
  const { api, feeds, consents } = catalog
  api.url.value()
  if ([...feeds.values()].some(({ kind }) => kind === 'products')) api.productsToken.value()
  if (consents.feeds.size > 0) api.emailToken.value()
}

interface Following {
  claims: readonly ClaimId[]
  dir: string
  work: WorkHere
}

async function followImports(options: TakingIn, { claims, dir, work }: Following): Promise<ImportReport[]> {
  using manifest = await readManifest(dir)
  let reports: ImportReport[] = []
  await lookUntil(options, work, async () => {
    await manifest.refresh()
    reports = await readReports(claims, { manifest, dir })
    options.onProgress(await readProgress(options, { work, files: claims.length, imported: reports.length }))
    return reports.length === claims.length
  })
  return reports
}

async function readReports(
  claims: readonly ClaimId[],
  { manifest, dir }: { manifest: ManifestReader; dir: string },
): Promise<ImportReport[]> {
  const reports: ImportReport[] = []
  for (const claim of claims) {
    const accept = manifest.fileOf(claim)
    if (!accept || !manifest.outcome(accept.sequence)) continue
    const report = await readReport(reportPath(join(dir, 'reports'), accept))
    if (report) reports.push(report)
  }
  return reports
}

function followDelivery(options: TakingIn, { work, files }: { work: WorkHere; files: number }) {
  return lookUntil(options, work, async () => {
    const progress = await readProgress(options, { work, files, imported: files })
    options.onProgress(progress)
    return await options.isDelivered(progress.overview)
  })
}

async function lookUntil(
  { clock, signal }: TakingIn,
  { failed }: WorkHere,
  look: () => Promise<boolean>,
): Promise<void> {
  for (;;) {
    const began = clock.monotonic()
    if (await look()) return
    const restMs = Math.max(lookEveryMs, (clock.monotonic() - began) / lookShareMax)
    await Promise.race([clock.sleep(restMs, signal), failed])
  }
}

/** Nothing waits, is in flight or has to be repeated; dead letters and incomplete products wait for others. */
function isAllDelivered({ pending, dead, echoes, inFlight }: OutboxOverview): boolean {
  return pending - dead <= 0 && echoes.waiting === 0 && inFlight === 0
}

async function readProgress(
  options: TakingIn,
  { work, files, imported }: { work: WorkHere; files: number; imported: number },
): Promise<LoadProgress> {
  const { overview, progress } = await readFeedState(options)
  return {
    daemonPid: work.daemon?.pid,
    imported,
    files,
    running: progress ? (JSON.parse(progress) as ProgressState) : undefined,
    overview,
  }
}

type Watching = Pick<TakingIn, 'config' | 'connections' | 'catalog' | 'feed' | 'clock'>

/** `progress`: JSON of the import of the feed that runs. */
async function readFeedState({ config, connections, catalog, feed, clock }: Watching) {
  if (feed.kind === 'consents') {
    using consents = ConsentReader.open(stateDirOf(config, catalog.name))
    return { overview: consents.overview(clock.now()), progress: consents.progress(feed.name) }
  }
  using mirror = await openMirror(config, catalog)
  const connection = connections.commands
  const overview = await readOverview({ catalog, connection, mirror, nowMs: clock.now() })
  return { overview, progress: mirror.progress().get(feed.name) }
}

function sumReports(reports: readonly ImportReport[]) {
  const sum = { records: 0, rejected: 0, unchanged: 0, changes: emptyTally() }
  for (const report of reports) {
    sum.records += report.records
    sum.rejected += report.rejected
    sum.unchanged += report.unchanged
    for (const name of tallyNames) sum.changes[name] += report.changes[name]
  }
  return sum
}
