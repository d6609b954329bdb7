import { join } from 'node:path'
import type { LoadedConfig } from '../config/load.ts'
import type { CatalogConfig, FeedConfig, FeedKind } from '../config/model.ts'
import { ConsentReader } from '../consents/reader.ts'
import { type Held, parseHeld } from '../imports/context.ts'
import type { ProgressState } from '../imports/progress.ts'
import type { OverriddenField } from '../imports/record-fates.ts'
import { type ImportReport, readReport, reportPath } from '../imports/report.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import { type OutboxOverview, readOverview } from '../outbox/overview.ts'
import type { RedisConnections, RedisState } from '../redis/connections.ts'
import { readNextDue } from '../redis/next-due.ts'
import type { LeftAlone } from '../sources/entry-roles.ts'
import { countFailedFiles, failedDirOf } from '../sources/layout.ts'
import { type DroppedFile, lookAtDropped } from '../sources/look-at-dropped.ts'
import { type ManifestReader, readManifest } from '../sources/manifest-reader.ts'
import type { AcceptLine } from '../sources/model.ts'
import { describeSchedule, describeSource } from '../sources/pull/describe-source.ts'
import { pullDirOf, readPullState, scheduleIdOf } from '../sources/pull/pull-state.ts'
import { openMirror, stateDirOf } from '../storage.ts'
import { decisionOn, type ImportEntry } from './list-imports.ts'
import { findDaemon, type OperationContext } from './run-here.ts'
import { type ConfigStatus, readConfigStatus, type UsedConfig } from './running-config.ts'
import { type Notice, readNotices } from './status-notices.ts'

export interface FeedStatus {
  feed: string
  kind: FeedKind
  /** Newest accepted file, and whether everything accepted has been imported. */
  lastFile: {
    sequence: number
    name: string
    acceptedAt: string
    outcome: string | null
    /** About what it held. */
    decision: ImportEntry['decision']
    /** Null until it was imported. */
    records: number | null
    rejected: number | null
    /** All that its records say is written by other feeds; null: it is not. */
    overridden: { records: number; fields: OverriddenField[] } | null
  } | null
  /** Files that were refused whole, until somebody takes them out of this folder. */
  refused: { files: number; folder: string }
  /** No file came for longer than `expectEvery`; null: one did, or none is expected, or none ever came. */
  stale: { expectEveryMs: number; sinceMs: number } | null
  /** Accepted, and not imported yet. */
  waitingFiles: number
  /** In the drop folder, not accepted yet: at most the first 1,000. */
  dropped: number
  /** The first few of them by name, and what they wait for. */
  droppedFiles: DroppedFile[]
  /** Entries of the drop folder that are never accepted; null: not all could be looked at. */
  leftAlone: LeftAlone | null
  running: ProgressState | null
  /** In accept order. */
  held: Held[]
  /** Null: its files are dropped or pushed, not fetched. */
  pull: PullStatus | null
}

/** Of the calls that the mirror knows. */
interface RecentCalls {
  lastAcknowledgedAt: string | null
  /** What was acknowledged in the minute before. */
  lastMinute: { calls: number; products: number; bytes: number }
}

export interface CatalogStatus {
  catalog: string
  overview: OutboxOverview
  /** Null where the catalog has no consents; `products` counts the consents that are known. */
  consents: OutboxOverview | null
  feeds: FeedStatus[]
  calls: RecentCalls
  /** Redis lost what it held, or all is sent anew: no call begins before the mirror has filled it. */
  repairing: boolean
  /** Up to five incomplete products with what they miss. */
  incompleteExamples: { productId: string; missing: string }[]
  /** Troubles that the daemon reports, newest knowledge, and what is seen at once; where none runs, also why it would not. */
  notices: Notice[]
  /** One word for monitors: `ok`, `attention` (an operator should look), `stopped` (no call is made). */
  health: 'ok' | 'attention' | 'stopped'
}

export interface Status {
  daemon: { host: string; pid: number; since: string } | null
  redis: RedisState
  /** Null where no daemon has told what it runs with. */
  configuration: ConfigStatus | null
  catalogs: CatalogStatus[]
}

export async function readStatus(
  context: Omit<OperationContext, 'catalog'>,
  catalogs: readonly CatalogConfig[],
  used?: UsedConfig<Pick<LoadedConfig, 'config' | 'digest'>>,
): Promise<Status> {
  const redis = await context.connections.state()
  const daemon = (await findDaemon(context)) ?? null
  const isStopped = daemon === null
  return {
    daemon,
    redis,
    configuration: used ? await readConfigStatus(used.loaded, { daemon, problem: used.problem }) : null,
    catalogs: await Promise.all(
      catalogs.map((catalog) => readCatalog({ ...context, catalog }, { isUp: redis.up, isStopped })),
    ),
  }
}

async function readCatalog(
  context: OperationContext,
  { isUp, isStopped }: { isUp: boolean; isStopped: boolean },
): Promise<CatalogStatus> {
  const { config, catalog, connections, clock } = context
  const connection = isUp ? connections.commands : undefined
  using mirror = await openMirror(config, catalog)
  const overview = await readOverview({ catalog, connection, mirror, nowMs: clock.now() })
  const hasConsents = catalog.consents.feeds.size > 0
  using reader = ConsentReader.open(stateDirOf(config, catalog.name))
  const consents = hasConsents ? reader.overview(clock.now()) : null
  const feeds = await readFeeds(context, mirror)
  const notices = await readNotices(context, { mirror, overview, consents, feeds, isUp, isStopped })
  return {
    catalog: catalog.name,
    overview,
    consents,
    feeds,
    calls: readRecentCalls(mirror, clock.now()),
    repairing: mirror.repair().repairing,
    incompleteExamples: mirror.incomplete(5),
    notices,
    health: isUp ? healthOf({ overview, consents, feeds, notices }) : 'stopped',
  }
}

/** Looked through, newest first. */
const callsMax = 5_000
const minuteMs = 60_000

function readRecentCalls(mirror: MirrorReader, nowMs: number): RecentCalls {
  const lastMinute = { calls: 0, products: 0, bytes: 0 }
  let lastMs: number | undefined
  let looked = 0
  for (const { endedMs, outcome, products, refused, bytes } of mirror.settledCalls()) {
    looked += 1
    const isRecent = endedMs > nowMs - minuteMs
    if (outcome === 'acknowledge') {
      lastMs = Math.max(lastMs ?? 0, endedMs)
      if (isRecent) {
        lastMinute.calls += 1
        lastMinute.products += products - refused
        lastMinute.bytes += bytes
      }
    }
    if ((!isRecent && lastMs !== undefined) || looked >= callsMax) break
  }
  return { lastAcknowledgedAt: lastMs === undefined ? null : new Date(lastMs).toISOString(), lastMinute }
}

async function readFeeds(
  { config, catalog, connections, clock, readManifest: read = readManifest }: OperationContext,
  mirror: MirrorReader,
): Promise<FeedStatus[]> {
  const held = mirror.held()
  const progress = mirror.progress()
  const dir = stateDirOf(config, catalog.name)
  using consents = ConsentReader.open(dir)
  using manifest = await read(dir)
  const feeds: FeedStatus[] = []
  for (const shown of shownFeeds(catalog, manifest)) {
    const { name: feed, kind, expectEveryMs } = shown
    const newest = manifest.newest(feed)
    const dropped = await lookAtDropped(shown, { feeds: catalog.feeds.values(), nowMs: clock.now() })
    const running = kind === 'consents' ? consents.progress(feed) : progress.get(feed)
    feeds.push({
      feed,
      kind,
      lastFile: await readLastFile(newest, { dir, manifest }),
      stale: staleOf(newest, { expectEveryMs, nowMs: clock.now() }),
      waitingFiles: [...manifest.unfinished(feed)].length,
      dropped: dropped.files,
      droppedFiles: dropped.examples,
      leftAlone: dropped.isPart ? null : dropped.leftAlone,
      refused: { files: await countFailedFiles(dir, feed), folder: failedDirOf(dir, feed) },
      running: running === undefined ? null : (JSON.parse(running) as ProgressState),
      held: parseHeld(held.get(feed)),
      pull: await readPullStatus(shown, { catalog, connections, dir }),
    })
  }
  return feeds
}

function staleOf(
  newest: AcceptLine | undefined,
  { expectEveryMs, nowMs }: { expectEveryMs: number | undefined; nowMs: number },
): FeedStatus['stale'] {
  if (newest === undefined || expectEveryMs === undefined) return null
  const sinceMs = nowMs - Date.parse(newest.acceptedAt)
  return sinceMs > expectEveryMs ? { expectEveryMs, sinceMs } : null
}

/** What stands in the configuration, and what the command `consent` handed in, if it ever did. */
function shownFeeds({ feeds, consents }: CatalogConfig, manifest: ManifestReader): FeedConfig[] {
  const builtIn = [...consents.feeds.values()].filter(({ name }) => !feeds.has(name) && manifest.newest(name))
  return [...feeds.values(), ...builtIn]
}

async function readLastFile(
  accept: AcceptLine | undefined,
  { dir, manifest }: { dir: string; manifest: ManifestReader },
): Promise<FeedStatus['lastFile']> {
  if (!accept) return null
  const { sequence, name, acceptedAt } = accept
  const outcome = manifest.outcome(sequence)?.outcome ?? null
  const report = outcome === null ? undefined : await readReport(reportPath(join(dir, 'reports'), accept))
  const { records = null, rejected = null } = report ?? {}
  const decision = decisionOn(sequence, manifest)
  return {
    ...{ sequence, name, acceptedAt, outcome, decision, records, rejected },
    overridden: overriddenIn(report),
  }
}

function overriddenIn({
  became,
  overridden = [],
}: Partial<ImportReport> = {}): NonNullable<FeedStatus['lastFile']>['overridden'] {
  if (!became || became.overridden === 0) return null
  const isAll = became.changed + became.unchanged + became.incomplete === 0
  return isAll ? { records: became.overridden, fields: overridden } : null
}

type Judged = Pick<CatalogStatus, 'overview' | 'consents' | 'feeds' | 'notices'>

function healthOf({ overview, consents, feeds, notices }: Judged): CatalogStatus['health'] {
  const overviews = consents ? [overview, consents] : [overview]
  if (overviews.some(({ paused }) => paused.length > 0)) return 'stopped'
  const asks =
    overviews.some(({ dead, failuresInARow }) => dead > 0 || failuresInARow > 2) ||
    notices.length > 0 ||
    feeds.some(({ held, refused, stale }) => held.length > 0 || refused.files > 0 || stale !== null)
  return asks ? 'attention' : 'ok'
}

/** How the fetching of a feed goes. Times are ISO 8601. */
interface PullStatus {
  /** Without query and credentials. */
  from: string
  schedule: string
  /** Of the last fetch, and of the last one that succeeded, whether it brought a file or not. */
  lastAt: string | null
  succeededAt: string | null
  /** By the schedule; a fetch that failed is repeated before. Null: no daemon has begun yet, or Redis is away. */
  nextAt: string | null
  failure: { since: string; times: number; text: string } | null
}

interface Reading {
  catalog: CatalogConfig
  connections: RedisConnections
  /** `state/<catalog>`. */
  dir: string
}

async function readPullStatus(
  feed: FeedConfig,
  { catalog, connections, dir }: Reading,
): Promise<PullStatus | null> {
  const { pull } = feed
  if (!pull) return null
  const { lastAt = null, succeededAt = null, failure = null } = await readPullState(pullDirOf(dir, feed.name))
  const id = scheduleIdOf(feed)
  const next = connections.failure ? undefined : await readNextDue(connections, { catalog: catalog.name, id })
  return {
    from: describeSource(pull.source),
    schedule: describeSchedule(pull),
    lastAt,
    succeededAt,
    nextAt: next === undefined ? null : new Date(next).toISOString(),
    failure,
  }
}
