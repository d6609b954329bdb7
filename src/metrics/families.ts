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
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  read: (figures: Figures) => Iterable<Sample>
}

type Described = [name: string, help: string]

/** One value a catalog. */
function ofCatalog(
  type: 'counter' | 'gauge',
  [name, help]: Described,
  read: (catalog: CatalogFigures) => number | undefined,
): Family {
  return ofCatalogBy(type, [name, help], [], (catalog) => [{ value: read(catalog) }])
}

function ofCatalogBy(
  type: Family['type'],
  [name, help]: Described,
  labels: readonly string[],
  read: (catalog: CatalogFigures) => Iterable<Sample>,
): Family {
  return {
    ...{ name, type, help, labels: ['catalog', ...labels] },
    *read({ catalogs }) {
      for (const each of catalogs) {
        for (const sample of read(each))
          yield { ...sample, labels: { catalog: each.catalog.name, ...sample.labels } }
      }
    },
  }
}

function ofLane(described: Described, read: LaneReader): Family {
  return ofCatalogBy('gauge', described, ['lane'], ({ overview }) =>
    lanes.map((lane) => ({ labels: { lane }, value: overview && read(overview.lanes[lane]) })),
  )
}
type LaneReader = (lane: NonNullable<CatalogFigures['overview']>['lanes']['urgent']) => number

function ofFeed(
  described: Described,
  read: (feed: CatalogFigures['feeds'][number]) => number | undefined,
): Family {
  return ofCatalogBy('gauge', described, ['feed'], ({ feeds }) =>
    feeds.map((figures) => ({ labels: { feed: figures.feed }, value: read(figures) })),
  )
}

/** Counted by this process, by the feed of the file. */
function importsBy(
  described: Described,
  read: (feed: FeedSums) => Iterable<[outcome: string, number]>,
): Family {
  return ofCatalogBy('counter', described, ['feed', 'outcome'], ({ meter }) =>
    [...meter.feeds].flatMap(([feed, sums]) =>
      [...read(sums)].map(([outcome, value]) => ({ labels: { feed, outcome }, value })),
    ),
  )
}
type FeedSums = NonNullable<ReturnType<CatalogFigures['meter']['feeds']['get']>>

function callsBy(described: Described, sum: 'calls' | 'products' | 'bytes'): Family {
  return ofCatalogBy('counter', described, ['outcome'], ({ meter }) =>
    [...meter.calls].map(([outcome, sums]) => ({ labels: { outcome }, value: sums[sum] })),
  )
}

function one(
  type: 'counter' | 'gauge',
  [name, help]: Described,
  read: (figures: Figures) => number | undefined,
): Family {
  return { ...{ name, type, help, labels: [] }, read: (figures) => [{ value: read(figures) }] }
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
  ofCatalogBy(
    'histogram',
    [
      'catalogd_delivery_delay_seconds',
      'From the acceptance of the file that changed a product to the acknowledgement of the change',
    ],
    ['lane'],
    ({ meter }) => lanes.flatMap((lane) => [...samplesOf(meter.deliveryDelays[lane], { lane })]),
  ),
  ofCatalogBy(
    'histogram',
    ['catalogd_call_duration_seconds', 'How long upsert calls took'],
    [],
    ({ meter }) => samplesOf(meter.callDelays),
  ),
  callsBy(['catalogd_calls_total', 'Upsert calls, by what their answer meant'], 'calls'),
  callsBy(['catalogd_call_products_total', 'Products in upsert calls'], 'products'),
  callsBy(['catalogd_call_bytes_total', 'Bytes of the bodies of upsert calls'], 'bytes'),
  ofCatalog(
    'gauge',
    ['catalogd_call_limit_bytes', 'Upper bound of a body: configured, or learned from a refusal'],
    ({ catalog, delivery: told }) =>
      Math.min(catalog.delivery.callBytes, told?.learnedBodyBytes ?? Number.POSITIVE_INFINITY),
  ),
  ofCatalog(
    'counter',
    ['catalogd_retried_calls_total', 'Calls whose products, or some of them, are sent again'],
    ({ meter }) => retried.reduce((sum, outcome) => sum + (meter.calls.get(outcome)?.calls ?? 0), 0),
  ),
  ofCatalog(
    'counter',
    ['catalogd_acknowledged_products_total', 'Products that the endpoint took'],
    ({ meter }) => meter.acknowledged,
  ),
  ofCatalog(
    'counter',
    ['catalogd_refused_products_total', 'Products that the endpoint refused'],
    ({ meter }) => meter.refused,
  ),
  ofCatalog(
    'gauge',
    ['catalogd_last_acknowledgement_timestamp_seconds', 'Time of the last acknowledgement to this process'],
    ({ meter }) => seconds(meter.acknowledgedAtMs),
  ),
  ofCatalogBy(
    'gauge',
    ['catalogd_calls_paused', '1 while no call is made for this reason'],
    ['reason'],
    ({ delivery: told }) =>
      pauses.map((reason) => ({
        labels: { reason },
        value: told && Number(told.paused.some((pause) => pause.reason === reason)),
      })),
  ),
  ofCatalog(
    'gauge',
    ['catalogd_failed_calls_in_a_row', 'Failed calls since the last acknowledgement'],
    ({ delivery: told }) => told?.failuresInARow,
  ),
  ofCatalog(
    'gauge',
    ['catalogd_in_flight_products', 'Products in calls that run, of all processes'],
    ({ delivery: told }) => told?.inFlight,
  ),
  ofCatalog(
    'gauge',
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
  ofCatalog(
    'gauge',
    ['catalogd_products', 'Products with a complete document'],
    ({ overview }) => overview?.products,
  ),
  ofCatalog(
    'gauge',
    ['catalogd_incomplete_products', 'Products that miss required fields, and are not sent'],
    ({ overview }) => overview?.incomplete,
  ),
  ofCatalog(
    'gauge',
    ['catalogd_dead_letters', 'Products whose newest document the endpoint refused'],
    ({ overview }) => overview?.dead,
  ),
  ofCatalog(
    'gauge',
    ['catalogd_waiting_consents', 'Consents that are not acknowledged'],
    ({ consents }) => consents && consents.pending - consents.dead,
  ),
  ofCatalog(
    'gauge',
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
  ofCatalogBy('counter', ['catalogd_import_bytes_total', 'Bytes of imported files'], ['feed'], ({ meter }) =>
    [...meter.feeds].map(([feed, { bytes }]) => ({ labels: { feed }, value: bytes })),
  ),
  ofCatalogBy(
    'counter',
    ['catalogd_import_duration_seconds_total', 'Time that imports took'],
    ['feed'],
    ({ meter }) => [...meter.feeds].map(([feed, sums]) => ({ labels: { feed }, value: sums.seconds })),
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
  one('gauge', ['catalogd_redis_up', '1 while Redis answers'], ({ redis }) => Number(redis.up)),
  one('gauge', ['catalogd_redis_delay_seconds', 'How long Redis took for one question'], ({ redisDelayMs }) =>
    seconds(redisDelayMs),
  ),
  one('gauge', ['catalogd_redis_used_memory_bytes', 'Memory that Redis uses'], ({ redis }) =>
    redis.up ? redis.info.usedMemoryBytes : undefined,
  ),
  one('gauge', ['catalogd_redis_max_memory_bytes', 'Memory that Redis may use; 0: no limit'], ({ redis }) =>
    redis.up ? redis.info.maxMemoryBytes : undefined,
  ),
  one(
    'gauge',
    ['catalogd_disk_free_bytes', 'Room on the disk of the state folder'],
    ({ freeBytes }) => freeBytes,
  ),
  {
    ...{ name: 'catalogd_event_loop_delay_seconds', type: 'gauge', labels: ['quantile'] },
    help: 'How late the event loop of the main thread was since the last scrape',
    read: ({ loopDelayMs }) =>
      Object.entries(loopDelayMs).map(([quantile, delayMs]) => ({
        labels: { quantile },
        value: delayMs / 1_000,
      })),
  },
  {
    ...{ name: 'catalogd_build_info', type: 'gauge', labels: ['version'], help: 'The version that runs' },
    read: () => [{ labels: { version: readVersion() }, value: 1 }],
  },
  one('counter', ['process_cpu_seconds_total', 'CPU time of the process'], () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }),
  one('gauge', ['process_resident_memory_bytes', 'Resident memory of the process'], () =>
    process.memoryUsage.rss(),
  ),
  one(
    'gauge',
    ['process_start_time_seconds', 'When the process began'],
    () => performance.timeOrigin / 1_000,
  ),
]

/** In the order in which they are exposed. */
export const families: readonly Family[] = [...delivery, ...outbox, ...imports, ...surroundings]
