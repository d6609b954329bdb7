import type { CatalogName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { type DeliveryFigures, readFigures } from '../operations/read-figures.ts'
import type { RedisConnections } from '../redis/connections.ts'
import type { Configured } from './configured.ts'

interface FiguresOptions {
  configured: () => Configured
  connections: RedisConnections
  clock: Clock
  log: Log
}

/** One point of the charts. */
export interface Sample {
  atMs: number
  productsPerSecond: number
  callsPerSecond: number
  /** Share of `callBytes` that the calls had; null: there was none. */
  fill: number | null
  /** In the time of the sample: calls without an answer and products refused. */
  errors: number
  oldestMs: DeliveryFigures['oldestMs']
}

const everyMs = 5_000
/** Half an hour. */
const samplesMax = 360

interface Series {
  last: DeliveryFigures | undefined
  samples: Sample[]
  lastAcknowledgedMs: number | undefined
}

/** The last half hour of each catalog, from the counters in Redis; while Redis is away there are no samples. */
export class Figures implements Disposable {
  readonly #options: FiguresOptions
  readonly #series = new Map<CatalogName, Series>()
  readonly #timer: NodeJS.Timeout
  #isReading = false

  constructor(options: FiguresOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#take(), everyMs).unref()
    void this.#take()
  }

  /** Oldest first. */
  samples(catalog: CatalogName): readonly Sample[] {
    return this.#series.get(catalog)?.samples ?? []
  }

  /** To the nearest five seconds; undefined: none since this process began. */
  lastAcknowledgedMs(catalog: CatalogName): number | undefined {
    return this.#series.get(catalog)?.lastAcknowledgedMs
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #take(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      for (const catalog of this.#options.configured().catalogs) {
        const figures = await readFigures({ ...this.#options, catalog })
        const empty: Series = { last: undefined, samples: [], lastAcknowledgedMs: undefined }
        const series = this.#series.get(catalog.name) ?? empty
        this.#series.set(catalog.name, series)
        add(series, figures, catalog.delivery.callBytes)
      }
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the figures of the console could not be read')
    } finally {
      this.#isReading = false
    }
  }
}

function add(series: Series, figures: DeliveryFigures | undefined, callBytes: number): void {
  const { last } = series
  series.last = figures
  // A Redis that was emptied counts from the beginning.
  if (last === undefined || figures === undefined || figures.calls < last.calls) return
  const seconds = (figures.atMs - last.atMs) / 1000
  if (seconds <= 0) return
  const calls = figures.calls - last.calls
  const acknowledged = figures.acknowledged - last.acknowledged
  if (acknowledged > 0) series.lastAcknowledgedMs = figures.atMs
  series.samples.push({
    atMs: figures.atMs,
    productsPerSecond: acknowledged / seconds,
    callsPerSecond: calls / seconds,
    fill: calls === 0 ? null : (figures.bytes - last.bytes) / (calls * callBytes),
    errors: figures.unanswered - last.unanswered + figures.refused - last.refused,
    oldestMs: figures.oldestMs,
  })
  if (series.samples.length > samplesMax) series.samples.shift()
}
