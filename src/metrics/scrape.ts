import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { CatalogConfig } from '../config/model.ts'
import { ConsentReader } from '../consents/reader.ts'
import { parseHeld } from '../imports/context.ts'
import type { Intake } from '../imports/intake.ts'
import type { ProgressState } from '../imports/progress.ts'
import type { Clock } from '../lib/clock.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { type DeliveryOverview, type OutboxOverview, readDelivery, readOverview } from '../outbox/overview.ts'
import type { RedisConnections, RedisState } from '../redis/connections.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { freeBytes } from '../sources/space.ts'
import type { CatalogMeter } from './catalog-meter.ts'

/** A catalog of this process. */
export interface MeteredCatalog {
  catalog: CatalogConfig
  meter: CatalogMeter
  /** `state/<catalog>`. */
  dir: string
  /** Undefined: another process accepts and imports its files. */
  intake: Pick<Intake, 'manifest' | 'mirror' | 'acceptPushed'> | undefined
}

export interface ScrapeOptions {
  /** What is configured now. */
  catalogs: () => readonly MeteredCatalog[]
  connections: RedisConnections
  stateDir: string
  clock: Clock
}

export interface CatalogFigures {
  catalog: CatalogConfig
  meter: CatalogMeter
  /** Of the mirror; undefined: this process does not have it. */
  overview: OutboxOverview | undefined
  /** Undefined: Redis does not tell. */
  delivery: DeliveryOverview | undefined
  consents: OutboxOverview | undefined
  feeds: FeedFigures[]
}

interface FeedFigures {
  feed: string
  lastAcceptedMs: number | undefined
  expectEveryMs: number | undefined
  waitingFiles: number
  heldFiles: number
  /** Share of the file that was read. */
  progress: number | undefined
}

/** All that one scrape tells. */
export interface Figures {
  catalogs: CatalogFigures[]
  redis: RedisState
  /** Of one question to Redis; undefined: it does not answer. */
  redisDelayMs: number | undefined
  freeBytes: number | undefined
  /** How late the event loop of the main thread was since the last scrape. */
  loopDelayMs: Record<'0.5' | '0.99' | '1', number>
}

const resolutionMs = 20

/** Reads what a scrape tells. The event loop is watched from the first scrape on: who has no Prometheus pays nothing. */
export class Scraper implements Disposable {
  readonly #options: ScrapeOptions
  readonly #loop = monitorEventLoopDelay({ resolution: resolutionMs })

  constructor(options: ScrapeOptions) {
    this.#options = options
    this.#loop.enable()
  }

  async read(): Promise<Figures> {
    const { catalogs, connections, stateDir, clock } = this.#options
    const askedAt = clock.monotonic()
    const redis = await connections.state()
    const redisDelayMs = redis.up ? clock.monotonic() - askedAt : undefined
    return {
      catalogs: await Promise.all(
        catalogs().map((catalog) => readCatalogFigures(catalog, this.#options, redis.up)),
      ),
      ...{ redis, redisDelayMs },
      freeBytes: await freeBytes(stateDir).catch(() => undefined),
      loopDelayMs: this.#readLoop(),
    }
  }

  [Symbol.dispose](): void {
    this.#loop.disable()
  }

  #readLoop(): Figures['loopDelayMs'] {
    const msAt = (percentile: number) => Math.max(0, this.#loop.percentile(percentile) / 1e6 - resolutionMs)
    const delays = { '0.5': msAt(50), '0.99': msAt(99), '1': msAt(100) }
    this.#loop.reset()
    return delays
  }
}

/** Of the mirror that this process has, and of Redis when it is up. */
export async function readCatalogFigures(
  { catalog, meter, dir, intake }: MeteredCatalog,
  { connections, clock }: { connections: Pick<RedisConnections, 'commands'>; clock: Clock },
  isUp: boolean,
): Promise<CatalogFigures> {
  const connection = isUp ? connections.commands : undefined
  const nowMs = clock.now()
  const { mirror } = intake ?? {}
  // Before anything is waited for: a reload may close the mirror then.
  const feeds = intake ? readFeeds(catalog, intake) : []
  const overview = mirror && (await readOverview({ catalog, connection: undefined, mirror, nowMs }))
  const delivery =
    connection && (await readDelivery(connection, catalogKeys(catalog.name)).catch(() => undefined))
  using consents = catalog.consents.feeds.size > 0 && intake ? ConsentReader.open(dir) : undefined
  return {
    ...{ catalog, meter, overview, delivery, feeds },
    consents: consents?.overview(nowMs),
  }
}

function readFeeds(
  { feeds }: CatalogConfig,
  { manifest, mirror }: { manifest: ManifestView; mirror: MirrorReader },
): FeedFigures[] {
  const [held, progress] = [mirror.held(), mirror.progress()]
  return [...feeds].map(([feed, { expectEveryMs }]) => {
    const newest = manifest.newest(feed)
    const running = progress.get(feed)
    return {
      feed,
      expectEveryMs,
      lastAcceptedMs: newest && Date.parse(newest.acceptedAt),
      waitingFiles: [...manifest.unfinished(feed)].length,
      heldFiles: parseHeld(held.get(feed)).length,
      progress: running === undefined ? undefined : shareOf(JSON.parse(running) as ProgressState),
    }
  })
}

function shareOf({ bytes, bytesRead }: ProgressState): number {
  return Math.min(1, bytesRead / Math.max(1, bytes))
}
