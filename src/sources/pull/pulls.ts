import type { FeedConfig } from '../../config/model.ts'
import type { CatalogName } from '../../lib/brand.ts'
import { describeError, isOperatingFailure } from '../../lib/errors.ts'
import type { RedisConnections } from '../../redis/connections.ts'
import { hasSchedules } from '../../redis/next-due.ts'
import { openSchedules, type Schedules } from '../../redis/schedules.ts'
import { Loop } from '../loop.ts'
import { scheduleIdOf } from './pull-state.ts'
import { Puller, type PullerOptions } from './puller.ts'

interface PullsOptions extends Omit<PullerOptions, 'feed' | 'pull' | 'closing'> {
  catalog: CatalogName
  feeds: readonly FeedConfig[]
  connections: RedisConnections
  /** How often schedules that Redis lost are set again. */
  rescanMs: number
}

/** Feeds fetched at one time, of one catalog. */
const fetchesMax = 4
const tryAgainMs = 1_000

/**
 * Fetches files of all feeds that have `pull` until it is disposed: then running fetches are given up. Waiting for Redis → keeping the schedules (set at the start, and again at intervals, should Redis have lost them), while
 * what is due is handed to the feed it is for → closed. Schedules of feeds that are configured no longer go. While Redis
 * is away nothing is due; what was missed is fetched once when it is back.
 */
export class Pulls implements AsyncDisposable {
  readonly #options: PullsOptions
  readonly #pullers: readonly Puller[]
  readonly #loop: Loop
  readonly #closing = new AbortController()
  readonly #opened = new AsyncDisposableStack()
  #schedules: Schedules | undefined
  #isStarted = false

  constructor(options: PullsOptions) {
    this.#options = options
    this.#loop = new Loop(options.clock, () => this.#turn())
    this.#pullers = options.feeds.flatMap((feed) =>
      feed.pull ? [new Puller({ ...options, feed, pull: feed.pull, closing: this.#closing.signal })] : [],
    )
    this.#loop.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('catalogd ends'))
    await this.#loop[Symbol.asyncDispose]()
    await this.#opened.disposeAsync()
  }

  async #turn(): Promise<number | undefined> {
    const isKept = await this.#try(async () => {
      this.#schedules ??= await this.#open()
      if (this.#schedules) await this.#keep(this.#schedules)
    })
    if (!isKept) return tryAgainMs
    // No feed is fetched, and none was.
    return this.#schedules && this.#options.rescanMs
  }

  async #open(): Promise<Schedules | undefined> {
    const { connections, catalog } = this.#options
    if (this.#pullers.length === 0 && !(await hasSchedules(connections, catalog))) return undefined
    const schedules = this.#opened.use(await openSchedules(this.#options))
    if (this.#pullers.length === 0) return schedules
    const concurrency = Math.min(fetchesMax, this.#pullers.length)
    const onDue = (id: string) => this.#fetch(schedules, id)
    this.#opened.use(schedules.run({ concurrency, onDue }))
    return schedules
  }

  async #keep(schedules: Schedules): Promise<void> {
    const { feeds } = this.#options
    await schedules.set(
      feeds.flatMap((feed) => (feed.pull ? [{ id: scheduleIdOf(feed), at: feed.pull.schedule }] : [])),
    )
    if (this.#isStarted) return
    for (const puller of this.#pullers) {
      if (await puller.isOverdue()) await schedules.runIn(scheduleIdOf(puller.feed), 0)
    }
    this.#isStarted = true
  }

  async #fetch(schedules: Schedules, id: string): Promise<void> {
    const puller = this.#pullers.find(({ feed }) => scheduleIdOf(feed) === id)
    const againInMs = await puller?.run()
    if (againInMs !== undefined) await this.#try(() => schedules.runIn(id, againInMs))
  }

  /** False when it failed; it is repeated. */
  async #try(step: () => Promise<void>): Promise<boolean> {
    try {
      await step()
      return true
    } catch (caught) {
      const error = this.#options.connections.explain(caught)
      if (!isOperatingFailure(error)) throw error
      this.#options.log.debug({ error: describeError(error) }, 'schedules cannot be kept at present')
      return false
    }
  }
}
