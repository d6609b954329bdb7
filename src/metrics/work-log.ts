import type { Clock } from '../lib/clock.ts'
import { describeError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RedisConnections, RedisState } from '../redis/connections.ts'
import type { CatalogMeter } from './catalog-meter.ts'
import { type CatalogFigures, type MeteredCatalog, readCatalogFigures } from './scrape.ts'

interface WorkLogOptions {
  /** What is configured now. */
  catalogs: () => readonly MeteredCatalog[]
  connections: Pick<RedisConnections, 'state' | 'commands'>
  clock: Clock
  log: Log
}

const everyMs = 60_000
/** A line that still stands is told of again. */
const againAfterMs = 10 * 60_000

interface Seen {
  sums: Sums
  /** When it was told, monotonic ms; undefined: nothing stands. */
  standingToldAt: number | undefined
}

/**
 * Tells once a minute what was done, as long as there is work, and at once when nothing is delivered although products
 * are due: an operator sees in the log alone whether prices flow. Silent where there is nothing to do.
 */
export class WorkLog implements Disposable {
  readonly #options: WorkLogOptions
  readonly #timer: NodeJS.Timeout
  readonly #seen = new Map<CatalogMeter, Seen>()
  #isLooking = false

  constructor(options: WorkLogOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.look(), everyMs).unref()
  }

  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    const { catalogs, connections, log } = this.#options
    try {
      const redis = await connections.state()
      for (const metered of catalogs())
        this.#tell(await readCatalogFigures(metered, this.#options, redis.up), redis)
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'the work of the last minute cannot be told')
    } finally {
      this.#isLooking = false
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #tell(figures: CatalogFigures, redis: RedisState): void {
    const { catalog, meter, overview } = figures
    const { clock } = this.#options
    const log = this.#options.log.child({ catalog: catalog.name })
    const { sums: before = sumsOf(), standingToldAt } = this.#seen.get(meter) ?? {}
    const sums = sumsOf(meter)
    const work = differenceOf(sums, before)
    const running = figures.feeds.filter(({ progress }) => progress !== undefined)
    const lanes = overview ? Object.values(overview.lanes) : []
    const isDue = lanes.some(({ oldestMs }) => oldestMs >= everyMs)
    const isStanding = isDue && work.products === 0
    const [nowMs, now] = [clock.now(), clock.monotonic()]
    const secondsSince = (atMs: number) => Math.round((nowMs - atMs) / 1_000)
    const oldestMs = overview?.lanes.urgent.oldestMs ?? 0
    const line = withoutZeros({
      ...work,
      megabytes: Number((work.bytes / 1e6).toFixed(1)),
      bytes: 0,
      fill: work.calls > 0 ? Number((work.bytes / work.calls / catalog.delivery.callBytes).toFixed(2)) : 0,
      waiting: lanes.reduce((sum, { waiting }) => sum + waiting, 0),
      oldestUrgentSeconds: Math.round(oldestMs / 1_000),
      ...(meter.acknowledgedAtMs === undefined
        ? {}
        : { lastAcknowledgementSeconds: secondsSince(meter.acknowledgedAtMs) }),
      ...Object.fromEntries(
        running.map(({ feed, progress = 0 }) => [`${feed}Percent`, Math.round(progress * 100)]),
      ),
    })
    const mayTell = standingToldAt === undefined || now - standingToldAt >= againAfterMs
    this.#seen.set(meter, {
      sums,
      standingToldAt: isStanding ? (mayTell ? now : standingToldAt) : undefined,
    })
    if (isStanding && mayTell) {
      const { text, isMeant } = reasonOf(figures, redis)
      log[isMeant ? 'warn' : 'error'](line, `nothing is delivered: ${text}`)
    } else if (work.calls + work.records > 0 || running.length > 0) {
      log.info(line, 'work of the last minute')
    }
  }
}

type Sums = Record<'products' | 'refused' | 'calls' | 'failedCalls' | 'bytes' | 'files' | 'records', number>

function sumsOf(meter?: CatalogMeter): Sums {
  const calls = [...(meter?.calls ?? [])]
  const feeds = [...(meter?.feeds.values() ?? [])]
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  return {
    products: meter?.acknowledged ?? 0,
    refused: meter?.refused ?? 0,
    calls: sum(calls.map(([, { calls: made }]) => made)),
    failedCalls: sum(calls.map(([outcome, { calls: made }]) => (outcome === 'acknowledge' ? 0 : made))),
    bytes: sum(calls.map(([, { bytes }]) => bytes)),
    files: sum(feeds.flatMap(({ files }) => [...files.values()])),
    records: sum(feeds.flatMap(({ records }) => Object.values(records))),
  }
}

function differenceOf(sums: Sums, before: Sums): Sums {
  const names = Object.keys(sums) as (keyof Sums)[]
  return Object.fromEntries(names.map((name) => [name, sums[name] - before[name]])) as Sums
}

function withoutZeros(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== 0))
}

/** `isMeant`: it was decided, or is over by itself. */
function reasonOf({ delivery }: CatalogFigures, redis: RedisState): { text: string; isMeant: boolean } {
  if (!redis.up)
    return { text: `Redis at ${redis.address} cannot be reached: ${redis.error}`, isMeant: false }
  const { paused = [], holdMs = 0, holdReason, lastFailure, failuresInARow = 0 } = delivery ?? {}
  if (paused.length > 0) {
    const text = paused.map(({ reason, since, hint }) => `paused (${reason}) since ${since}: ${hint}`)
    return { text: text.join('; '), isMeant: paused.every(({ reason }) => reason === 'operator') }
  }
  if (failuresInARow > 0 && lastFailure) {
    const text = `${failuresInARow} calls in a row failed, the last at ${lastFailure.at}: ${lastFailure.text}`
    return { text, isMeant: false }
  }
  if (holdMs > 0)
    return { text: `no call before ${Math.ceil(holdMs / 1_000)} s (${holdReason})`, isMeant: true }
  return { text: 'see catalogd status', isMeant: false }
}
