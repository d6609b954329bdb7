import type { CallMade, DeliveryMeter } from '../delivery/context.ts'
import type { ImportReport } from '../imports/report.ts'
import type { Clock } from '../lib/clock.ts'
import type { ClaimedProduct } from '../outbox/model.ts'
import type { AcceptLine } from '../sources/model.ts'
import { DelayHistogram } from './delay-histogram.ts'
import { FileTimes } from './file-times.ts'

type CallSums = Record<'calls' | 'products' | 'bytes', number>

/** What became of the records of a feed's files. */
const recordOutcomes = ['changed', 'unchanged', 'skipped', 'rejected', 'superseded', 'incomplete'] as const
type RecordOutcome = (typeof recordOutcomes)[number]

interface FeedSums {
  /** By outcome. */
  files: Map<string, number>
  records: Record<RecordOutcome, number>
  bytes: number
  seconds: number
}

/** How many products of a call a file brought. */
export interface FileShare {
  sequence: number
  products: number
}

/** Who is told of what is done for a catalog, with times in ms since the epoch. */
export interface CatalogTrace {
  applying(accept: AcceptLine): void
  imported(report: ImportReport, accept: AcceptLine): void
  called(call: CallMade, shares: readonly FileShare[], nowMs: number): void
  settled(shares: readonly FileShare[], nowMs: number): void
}

/**
 * Counts what this process does for one catalog since it began: plain sums, so that who sends and who imports is not
 * held up. Read by a scrape, and by the log.
 */
export class CatalogMeter implements DeliveryMeter {
  readonly files = new FileTimes()
  /** By what the answer meant. */
  readonly calls = new Map<CallMade['outcome'], CallSums>()
  readonly callDelays = new DelayHistogram(60)
  /** From the acceptance of the file to the acknowledgement, of each product. */
  readonly deliveryDelays = {
    urgent: new DelayHistogram(),
    new: new DelayHistogram(),
    deferred: new DelayHistogram(),
  }
  readonly feeds = new Map<string, FeedSums>()
  acknowledged = 0
  refused = 0
  /** Wall-clock ms. */
  acknowledgedAtMs: number | undefined
  readonly #clock: Pick<Clock, 'now'>
  readonly #trace: CatalogTrace | undefined

  constructor(clock: Pick<Clock, 'now'>, trace?: CatalogTrace) {
    this.#clock = clock
    this.#trace = trace
  }

  called(call: CallMade): void {
    const { outcome, products, bodyBytes, durationMs } = call
    const sums = this.calls.get(outcome) ?? { calls: 0, products: 0, bytes: 0 }
    this.calls.set(outcome, sums)
    sums.calls += 1
    sums.products += products.length
    sums.bytes += bodyBytes
    this.callDelays.add(durationMs)
    this.#trace?.called(call, this.#sharesOf(products), this.#clock.now())
  }

  /** Of a call, or of a part of it. */
  settled(taken: readonly ClaimedProduct[], refused: number): void {
    this.refused += refused
    if (taken.length === 0) return
    const nowMs = this.#clock.now()
    this.acknowledged += taken.length
    this.acknowledgedAtMs = nowMs
    this.#trace?.settled(this.#sharesOf(taken), nowMs)
    for (const { place } of taken) {
      if (!place) continue
      const { lane, sinceMs, products } = place
      const file = this.files.fileOf(sinceMs)
      this.deliveryDelays[lane].add(nowMs - (file ? Date.parse(file.acceptedAt) : sinceMs), products)
    }
  }

  applying(accept: AcceptLine): void {
    this.files.began(accept, this.#clock.now())
    this.#trace?.applying(accept)
  }

  #sharesOf(products: readonly ClaimedProduct[]): FileShare[] {
    const shares = new Map<number, number>()
    for (const { place } of products) {
      const file = place && this.files.fileOf(place.sinceMs)
      if (file) shares.set(file.sequence, (shares.get(file.sequence) ?? 0) + place.products)
    }
    return [...shares].map(([sequence, count]) => ({ sequence, products: count }))
  }

  imported(report: ImportReport, accept: AcceptLine): void {
    const { feed, outcome, records, bytes, seconds, rejected } = report
    this.#trace?.imported(report, accept)
    this.files.ended(accept, this.#clock.now())
    const sums = this.feeds.get(feed) ?? newFeedSums()
    this.feeds.set(feed, sums)
    sums.files.set(outcome, (sums.files.get(outcome) ?? 0) + 1)
    sums.bytes += bytes
    sums.seconds += seconds
    const { superseded, incomplete } = report.changes
    const skipped = report.skipped?.records ?? 0
    const unchanged = report.unchanged - skipped
    const changed = Math.max(0, records - rejected - superseded - incomplete - report.unchanged)
    const parts = { changed, unchanged, skipped, rejected, superseded, incomplete }
    for (const part of recordOutcomes) sums.records[part] += parts[part]
  }
}

function newFeedSums(): FeedSums {
  const records = { changed: 0, unchanged: 0, skipped: 0, rejected: 0, superseded: 0, incomplete: 0 }
  return { files: new Map(), records, bytes: 0, seconds: 0 }
}
