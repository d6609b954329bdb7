import type { FeedConfig, PullConfig } from '../../config/model.ts'
import { describeError, isOperatingFailure } from '../../lib/errors.ts'
import type { NoticeBoard } from '../notices.ts'
import { isFull } from '../space.ts'
import { accessOf, placeOf } from './describe-source.ts'
import { digestOfPlace, FeedPull, type FeedPullOptions } from './feed-pull.ts'
import { fetchFolder } from './fetch-folder.ts'
import { fetchUrl } from './fetch-url.ts'
import { PullError } from './pull-error.ts'
import { readPullState } from './pull-state.ts'
import type { Network } from './resolve-host.ts'
import { Sightings } from './sightings.ts'

export interface PullerOptions extends FeedPullOptions {
  notices: NoticeBoard
  /** Aborted when no fetch may run any more. */
  closing: AbortSignal
  network: Network
}

const backOffMsMin = 30_000
const backOffMsMax = 15 * 60_000

/** Fetches for one feed, one fetch at a time. What fails is noted, and tried again with growing pauses. */
export class Puller {
  readonly #options: PullerOptions
  readonly #feedPull: FeedPull
  readonly #sightings: Sightings
  #isRunning = false
  #failures = 0
  /** Monotonic ms. */
  #notBeforeMs = 0

  constructor(options: PullerOptions) {
    this.#options = options
    this.#feedPull = new FeedPull(options)
    this.#sightings = new Sightings({ ...options, feed: settledFeed(options) })
  }

  get feed(): FeedConfig {
    return this.#options.feed
  }

  /**
   * Whether it has never fetched from where it is to fetch now, or failed or was cut off the last time: then it does not
   * wait for its schedule.
   */
  async isOverdue(): Promise<boolean> {
    const { lastAt, failure, isUnfinished = false, place } = await readPullState(this.#feedPull.dir)
    if (lastAt === undefined || failure !== undefined || isUnfinished) return true
    const { source } = this.#options.pull
    const isKnown = accessOf(source).every(({ available }) => available)
    return isKnown && place !== digestOfPlace(placeOf(source))
  }

  /** One fetch, unless one runs or it is too early. Answers in how many ms to try again, undefined: with the schedule. */
  async run(): Promise<number | undefined> {
    const { clock, closing } = this.#options
    const waitMs = this.#notBeforeMs - clock.monotonic()
    if (this.#isRunning || closing.aborted) return undefined
    if (waitMs > 0) return waitMs
    this.#isRunning = true
    try {
      return await this.#fetch()
    } finally {
      this.#isRunning = false
    }
  }

  async #fetch(): Promise<number | undefined> {
    const { feed, pull, acceptor, notices, closing, clock } = this.#options
    const total = AbortSignal.timeout(pull.totalMs)
    try {
      await this.#feedPull.load()
      await this.#feedPull.open(placeOf(pull.source))
      const waitMs = this.#askedToWaitMs()
      if (waitMs > 0) return waitMs
      await acceptor.requireSpace(0)
      await this.#feedPull.save({ ...this.#feedPull.state, isUnfinished: true })
      await this.#fetchFrom(AbortSignal.any([closing, total]))
      notices.clear('disk', `pull ${feed.name}`)
      notices.clear(`pull:${feed.name}`, '')
      this.#failures = 0
      const now = new Date(clock.now()).toISOString()
      const { failure, notBefore, isUnfinished, ...state } = this.#feedPull.state
      await this.#feedPull.save({ ...state, lastAt: now, succeededAt: now })
      return undefined
    } catch (error) {
      if (closing.aborted) return undefined
      return this.#note(total.aborted ? tooSlow(pull, error) : error)
    }
  }

  #fetchFrom(signal: AbortSignal): Promise<number> {
    const { feed, pull, clock, log, network } = this.#options
    const { source, silenceMs } = pull
    const common = { feedName: feed.name, feedPull: this.#feedPull, silenceMs, clock, log, signal }
    return source.kind === 'url'
      ? fetchUrl({ ...common, source, network })
      : fetchFolder({ ...common, source, sightings: this.#sightings })
  }

  /** What the server asked for holds over restarts. */
  #askedToWaitMs(): number {
    const { notBefore } = this.#feedPull.state
    return notBefore === undefined ? 0 : Date.parse(notBefore) - this.#options.clock.now()
  }

  /** Answers in how many ms to try again. */
  async #note(error: unknown): Promise<number> {
    const { feed, notices, clock } = this.#options
    if (isFull(error)) {
      notices.raise('disk', `pull ${feed.name}`, describeError(error))
      return backOffMsMin
    }
    if (!isOperatingFailure(error)) throw error
    const text = describeError(error)
    notices.raise(`pull:${feed.name}`, '', `Fetching of feed ${feed.name} fails: ${text}`)
    const retryAfterMs = error instanceof PullError ? (error.retryAfterMs ?? 0) : 0
    const delayMs = Math.max(this.#backOffMs(++this.#failures), retryAfterMs)
    this.#notBeforeMs = clock.monotonic() + delayMs
    // What cannot be remembered is told all the same.
    if (this.#feedPull.isLoaded) await this.#remember(text, retryAfterMs).catch(ignoreOperatingFailure)
    return delayMs
  }

  async #remember(text: string, retryAfterMs: number): Promise<void> {
    const nowMs = this.#options.clock.now()
    const now = new Date(nowMs).toISOString()
    const { state } = this.#feedPull
    const { since = now, times = 0 } = state.failure ?? {}
    await this.#feedPull.save({
      ...state,
      lastAt: now,
      isUnfinished: false,
      failure: { since, times: times + 1, text },
      notBefore: retryAfterMs > 0 ? new Date(nowMs + retryAfterMs).toISOString() : undefined,
    })
  }

  #backOffMs(failures: number): number {
    const { schedule } = this.#options.pull
    const firstMs = schedule.kind === 'every' ? Math.min(backOffMsMin, schedule.everyMs) : backOffMsMin
    return Math.min(backOffMsMax, firstMs * 2 ** Math.min(failures - 1, 20))
  }
}

function ignoreOperatingFailure(error: unknown): void {
  if (!isOperatingFailure(error)) throw error
}

/** An object of a bucket is there whole, or not at all. */
function settledFeed({ feed, pull }: Pick<PullerOptions, 'feed' | 'pull'>): FeedConfig {
  const isWhole = pull.source.kind === 's3' && feed.settle.kind === 'quiet'
  return isWhole ? { ...feed, settle: { kind: 'quiet', forMs: 0 } } : feed
}

function tooSlow({ totalMs }: PullConfig, cause: unknown): PullError {
  return new PullError(
    'too-slow',
    `the fetch took longer than ${Math.round(totalMs / 1000)} s and was given up`,
    {
      hint: 'Look at the server and the way to it, or raise atMost',
      cause,
    },
  )
}
