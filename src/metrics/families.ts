import { readVersion } from '../lib/version.ts'
import { lanes } from '../mirror/lanes.ts'
import type { DelayHistogram } from './delay-histogram.ts'
import type { CatalogFigures, Figures } from './scrape.ts'

export interface Sample {
  labels?: Readonly<Record<string, string>>
  value: number | undefined
  /** Of a histogram: what stands behind its name. */
  suffix?: '_bucket' | '_sum' | '_count'
}

/** All that is exposed under one name. Labels come from the configuration and from fixed lists, so their number is bounded. */
export interface Family {
  /** With its unit: `_seconds`, `_bytes`, `_ratio`; counters end in `_total`. */
  name: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  help: string
  labels: readonly string[]
  read: (figures: Figures) => Iterable<Sample>
}

type Described = [name: string, help: string]

function family([name, help]: Described, labels: readonly string[], read: Family['read']): Family {
  const type = name.endsWith('_total') ? 'counter' : 'gauge'
  return { ...{ name, type, help, labels }, read }
}

/** One value a catalog. */
function ofCatalog(described: Described, read: (catalog: CatalogFigures) => number | undefined): Family {
  return ofCatalogBy(described, [], (catalog) => [{ value: read(catalog) }])
}

function ofCatalogBy(
  described: Described,
  labels: readonly string[],
  read: (catalog: CatalogFigures) => Iterable<Sample>,
): Family {
  return family(described, ['catalog', ...labels], function* ({ catalogs }) {
    for (const each of catalogs) {
      for (const sample of read(each))
        yield { ...sample, labels: { catalog: each.catalog.name, ...sample.labels } }
    }
  })
}

function ofLane(described: Described, read: LaneReader): Family {
  return ofCatalogBy(described, ['lane'], ({ overview }) =>
    lanes.map((lane) => ({ labels: { lane }, value: overview && read(overview.lanes[lane]) })),
  )
}
type LaneReader = (lane: NonNullable<CatalogFigures['overview']>['lanes']['urgent']) => number

function ofFeed(
  described: Described,
  read: (feed: CatalogFigures['feeds'][number]) => number | undefined,
): Family {
  return ofCatalogBy(described, ['feed'], ({ feeds }) =>
    feeds.map((figures) => ({ labels: { feed: figures.feed }, value: read(figures) })),
  )
}

/** Counted by this process, by the feed of the file. */
function importsBy(
  described: Described,
  read: (feed: FeedSums) => Iterable<[outcome: string, number]>,
): Family {
  return ofCatalogBy(described, ['feed', 'outcome'], ({ meter }) =>
    [...meter.feeds].flatMap(([feed, sums]) =>
      [...read(sums)].map(([outcome, value]) => ({ labels: { feed, outcome }, value })),
    ),
  )
}
type FeedSums = NonNullable<ReturnType<CatalogFigures['meter']['feeds']['get']>>

function callsBy(described: Described, sum: 'calls' | 'products' | 'bytes'): Family {
  return ofCatalogBy(described, ['outcome'], ({ meter }) =>
    [...meter.calls].map(([outcome, sums]) => ({ labels: { outcome }, value: sums[sum] })),
  )
}

function one(described: Described, read: (figures: Figures) => number | undefined): Family {
  return family(described, [], (figures) => [{ value: read(figures) }])
}

function histogram(...described: Parameters<typeof ofCatalogBy>): Family {
  return { ...ofCatalogBy(...described), type: 'histogram' }
}

function* samplesOf(histogram: DelayHistogram, labels: Record<string, string> = {}): Iterable<Sample> {
  for (const { boundS, count } of histogram.within())
    yield { labels: { ...labels, le: String(boundS) }, value: count, suffix: '_bucket' }
  yield { labels: { ...labels, le: '+Inf' }, value: histogram.count, suffix: '_bucket' }
  yield { labels, value: histogram.sumS, suffix: '_sum' }
  yield { labels, value: histogram.count, suffix: '_count' }
}

const retried = ['retry', 'throttle', 'unknown', 'not-sent', 'bisect', 'split', 'pause'] as const
const pauses = ['operator', 'credentials', 'refuses-everything'] as const

function seconds(delayMs: number | undefined): number | undefined {
  return delayMs === undefined ? undefined : delayMs / 1_000
}

const delivery: Family[] = [
  histogram(
    [
      'catalogd_delivery_delay_seconds',
      'From the acceptance of the file that changed a product to the acknowledgement of the change',
    ],
    ['lane'],
    ({ meter }) => lanes.flatMap((lane) => [...samplesOf(meter.deliveryDelays[lane], { lane })]),
  ),
  histogram(['catalogd_call_duration_seconds', 'How long upsert calls took'], [], ({ meter }) =>
    samplesOf(meter.callDelays),
  ),
  callsBy(['catalogd_calls_total', 'Upsert calls, by what their answer meant'], 'calls'),
  callsBy(['catalogd_call_products_total', 'Products in upsert calls'], 'products'),
  callsBy(['catalogd_call_bytes_total', 'Bytes of the bodies of upsert calls'], 'bytes'),
  ofCatalog(
    ['catalogd_call_limit_bytes', 'Upper bound of a body: configured, or learned from a refusal'],
    ({ catalog, delivery: told }) =>
      Math.min(catalog.delivery.callBytes, told?.learnedBodyBytes ?? Number.POSITIVE_INFINITY),
  ),
  ofCatalog(
    ['catalogd_retried_calls_total', 'Calls whose products, or some of them, are sent again'],
    ({ meter }) => retried.reduce((sum, outcome) => sum + (meter.calls.get(outcome)?.calls ?? 0), 0),
  ),
  ofCatalog(
    ['catalogd_acknowledged_products_total', 'Products that the endpoint took'],
    ({ meter }) => meter.acknowledged,
  ),
  ofCatalog(
    ['catalogd_refused_products_total', 'Products that the endpoint refused'],
    ({ meter }) => meter.refused,
  ),
  ofCatalog(
    ['catalogd_last_acknowledgement_timestamp_seconds', 'Time of the last acknowledgement to this process'],
    ({ meter }) => seconds(meter.acknowledgedAtMs),
  ),
  ofCatalogBy(
    ['catalogd_calls_paused', '1 while no call is made for this reason'],
    ['reason'],
    ({ delivery: told }) =>
      pauses.map((reason) => ({
        labels: { reason },
        value: told && Number(told.paused.some((pause) => pause.reason === reason)),
      })),
  ),
  ofCatalog(
    ['catalogd_failed_calls_in_a_row', 'Failed calls since the last acknowledgement'],
    ({ delivery: told }) => told?.failuresInARow,
  ),
  ofCatalog(
    ['catalogd_in_flight_products', 'Products in calls that run, of all processes'],
    ({ delivery: told }) => told?.inFlight,
  ),
  ofCatalog(
    ['catalogd_echoes', 'Products to be sent once more after an unknown outcome'],
    ({ delivery: told }) => told?.echoes.waiting,
  ),
]

const outbox: Family[] = [
  ofLane(
    ['catalogd_outbox_products', 'Products whose newest document is not acknowledged; without dead letters'],
    ({ waiting }) => waiting,
  ),
  ofLane(
    ['catalogd_outbox_oldest_age_seconds', 'How long the first of them has been due'],
    ({ oldestMs }) => oldestMs / 1_000,
  ),
  ofCatalog(['catalogd_products', 'Products with a complete document'], ({ overview }) => overview?.products),
  ofCatalog(
    ['catalogd_incomplete_products', 'Products that miss required fields, and are not sent'],
    ({ overview }) => overview?.incomplete,
  ),
  ofCatalog(
    ['catalogd_dead_letters', 'Products whose newest document the endpoint refused'],
    ({ overview }) => overview?.dead,
  ),
  ofCatalog(
    ['catalogd_waiting_consents', 'Consents that are not acknowledged'],
    ({ consents }) => consents && consents.pending - consents.dead,
  ),
  ofCatalog(
    ['catalogd_dead_consents', 'Consents that wait for the operator'],
    ({ consents }) => consents?.dead,
  ),
]

const imports: Family[] = [
  importsBy(['catalogd_import_files_total', 'Files, by how their import ended'], ({ files }) => files),
  importsBy(
    [
      'catalogd_import_records_total',
      'Records of imported files, by what became of them; skipped: they stood in the last full file',
    ],
    ({ records }) => Object.entries(records),
  ),
  ofCatalogBy(['catalogd_import_bytes_total', 'Bytes of imported files'], ['feed'], ({ meter }) =>
    [...meter.feeds].map(([feed, { bytes }]) => ({ labels: { feed }, value: bytes })),
  ),
  ofCatalogBy(['catalogd_import_duration_seconds_total', 'Time that imports took'], ['feed'], ({ meter }) =>
    [...meter.feeds].map(([feed, sums]) => ({ labels: { feed }, value: sums.seconds })),
  ),
  ofFeed(
    ['catalogd_import_progress_ratio', 'Read share of the file that is being imported'],
    ({ progress }) => progress,
  ),
  ofFeed(
    ['catalogd_waiting_files', 'Accepted files whose import has not ended'],
    ({ waitingFiles }) => waitingFiles,
  ),
  ofFeed(
    ['catalogd_held_files', 'Files that wait for approve or discard, whole or their removals'],
    ({ heldFiles }) => heldFiles,
  ),
  ofFeed(['catalogd_last_file_timestamp_seconds', 'When a file was accepted last'], ({ lastAcceptedMs }) =>
    seconds(lastAcceptedMs),
  ),
  ofFeed(
    ['catalogd_expected_file_interval_seconds', 'A file is expected at least so often (`expectEvery`)'],
    ({ expectEveryMs }) => seconds(expectEveryMs),
  ),
]

const surroundings: Family[] = [
  one(['catalogd_redis_up', '1 while Redis answers'], ({ redis }) => Number(redis.up)),
  one(['catalogd_redis_delay_seconds', 'How long Redis took for one question'], ({ redisDelayMs }) =>
    seconds(redisDelayMs),
  ),
  one(['catalogd_redis_used_memory_bytes', 'Memory that Redis uses'], ({ redis }) =>
    redis.up ? redis.info.usedMemoryBytes : undefined,
  ),
  one(['catalogd_redis_max_memory_bytes', 'Memory that Redis may use; 0: no limit'], ({ redis }) =>
    redis.up ? redis.info.maxMemoryBytes : undefined,
  ),
  one(['catalogd_disk_free_bytes', 'Room on the disk of the state folder'], ({ freeBytes }) => freeBytes),
  {
    name: 'catalogd_event_loop_delay_seconds',
    // The only type that may have quantiles; it may do without sum and count.
    type: 'summary',
    help: 'How late the event loop of the main thread was since the last scrape',
    labels: ['quantile'],
    read: ({ loopDelayMs }) =>
      Object.entries(loopDelayMs).map(([quantile, delayMs]) => ({
        labels: { quantile },
        value: delayMs / 1_000,
      })),
  },
  family(['catalogd_build_info', 'The version that runs'], ['version'], () => [
    { labels: { version: readVersion() }, value: 1 },
  ]),
  one(['process_cpu_seconds_total', 'CPU time of the process'], () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }),
  one(['process_resident_memory_bytes', 'Resident memory of the process'], () => process.memoryUsage.rss()),
  one(['process_start_time_seconds', 'When the process began'], () => performance.timeOrigin / 1_000),
]

/** In the order in which they are exposed. */
export const families: readonly Family[] = [...delivery, ...outbox, ...imports, ...surroundings]
