import { setTimeout as delay } from 'node:timers/promises'
import type { FeedName } from '../../../src/lib/brand.ts'
import type { Child } from '../../support/child.ts'
import { waitFor } from '../../support/events.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'
import type { TempDir } from '../../support/temp-dir.ts'
import type { SeededRandom } from '../random.ts'
import { Site } from '../site.ts'
import { RecordingEndpoint } from './recording-endpoint.ts'
import { Shop } from './shop.ts'

const timeoutMs = 1_500
/** The endpoint's clock and the daemon's see a call begin and end at different moments on a busy machine. */
const marginMs = 1_500
/** A daemon that ends by itself more often does not get any further. */
const restartsMax = 10
/** So many files may wait: a slow machine is not buried. */
const filesAheadMax = 15

export interface BenchOptions {
  random: SeededRandom
  /** `embedded`: the daemon runs it. */
  redis: 'aof' | 'rdb' | 'embedded'
  products?: number
  horizonMs?: number
  /** Of the whole site, or of its state alone where the drop folder lies elsewhere. */
  dir?: TempDir
  dropDir?: string
  env?: Readonly<Record<string, string>>
  /** Default: 10 minutes. */
  restWithinMs?: number
}

export interface Tally {
  /** How often all products were compared at rest. */
  compared: number
  stale: number
  lost: number
  foreign: number
  /** Starts that were refused with a remedy, which then was carried out. */
  refusals: number
  /** The daemon ended by itself, and was started again as a supervisor does. */
  restarts: number
}

/**
 * A daemon under load: a shop whose values come back, a Redis, and an endpoint that says what it holds.
 *
 * calm → loading (`load`) → something happens → at rest (`compare`) → loading → …
 */
export class Bench implements AsyncDisposable {
  readonly random: SeededRandom
  readonly site: Site
  readonly endpoint: RecordingEndpoint
  readonly shop: Shop
  /** Undefined: the embedded one. */
  readonly redis: RedisServer | undefined
  readonly tally: Tally = { compared: 0, stale: 0, lost: 0, foreign: 0, refusals: 0, restarts: 0 }
  readonly #restWithinMs: number
  #daemon: Child | undefined
  #loading: Promise<void> | undefined
  #isLoading = false

  private constructor(
    parts: Pick<Bench, 'random' | 'site' | 'endpoint' | 'shop' | 'redis'>,
    { restWithinMs = 600_000 }: BenchOptions,
  ) {
    this.#restWithinMs = restWithinMs
    this.random = parts.random
    this.site = parts.site
    this.endpoint = parts.endpoint
    this.shop = parts.shop
    this.redis = parts.redis
  }

  /** The first file of all products was dropped, and nothing is waited for. */
  static async open(options: BenchOptions): Promise<Bench> {
    const { random, products = 400, horizonMs = 4_000, dir, dropDir, env } = options
    const lateMsMax = timeoutMs + horizonMs - marginMs
    const endpoint = await RecordingEndpoint.open({ random, lateMsMax })
    const redis = options.redis === 'embedded' ? undefined : await startOwnRedis(options.redis)
    const site = await Site.open({
      ...{ sandbox: endpoint, redisUrl: redis?.url ?? '' },
      delivery: `{ callBytes: 100KB, concurrency: 4, timeout: ${timeoutMs}ms, horizon: ${horizonMs}ms, callsPerSecond: 200 }`,
      deferred: '{ after: 500ms, atMost: 2s }',
      ...(dir && { dir }),
      ...(dropDir !== undefined && { dropDir }),
      ...(env && { env }),
    })
    const bench = new Bench({ random, site, endpoint, shop: new Shop(products, random), redis }, options)
    await bench.startDaemon()
    await bench.drop('full', bench.shop.full())
    return bench
  }

  /** Files come, and the endpoint is in trouble, until `stopLoad`. */
  load(): void {
    if (this.#isLoading) return
    this.#isLoading = true
    this.endpoint.trouble = 0.08
    this.#loading = this.#dropFiles()
  }

  async loadFor(forMs: number): Promise<void> {
    this.load()
    await delay(forMs)
  }

  /** Many calls are under way, in doubt, or still to take effect; in half of the cases no later change heals a product. */
  async loadUntilFault(forMs: number): Promise<void> {
    await this.loadFor(forMs)
    if (this.random.chance(0.5)) {
      this.endpoint.trouble = 0.6
      await delay(this.random.between(300, 2_500))
    } else {
      await this.stopLoad()
      await this.#overtake()
      this.load()
    }
    if (this.random.chance(0.5)) await this.stopLoad()
  }

  /** Calls that nobody waits for any more are still to take effect, and their products have been sent back since. */
  async #overtake(): Promise<void> {
    const { endpoint } = this
    const { ids, sendBack } = await this.holdChanges()
    await delay(300)
    void endpoint.settled()
    await delay(timeoutMs)
    const droppedAt = Date.now()
    await sendBack()
    await waitFor(() => endpoint.notTaken(ids, droppedAt).length === 0, {
      withinMs: this.#restWithinMs,
      what: () =>
        `taken since then:\n${this.#stories(endpoint.notTaken(ids, droppedAt))}\n${this.site.logs()}`,
    })
    // Delivery waits a moment after time-outs; only what is acknowledged is not in doubt any more.
    await delay(this.random.between(300, 1_500))
  }

  /**
   * Products have changed, and calls with them have come that take effect late, as all do until the endpoint settles.
   * `ids`: of these calls; of others the change may not have been sent. `sendBack`: the file with which the products are
   * as before.
   */
  async holdChanges(): Promise<{ ids: readonly string[]; sendBack: () => Promise<void> }> {
    const { endpoint, random, shop } = this
    const changed = shop.some()
    const all = changed.map((product) => shop.id(product))
    const field = random.pick(['price', 'stock'] as const)
    endpoint.hold()
    await this.drop('delta', shop.flip(changed, field))
    const ids = await waitFor(() => {
      const coming = endpoint.coming(all)
      return coming.length > all.length / 2 && coming
    })
    return { ids, sendBack: () => this.drop('delta', shop.flip(changed, field)) }
  }

  async stopLoad(): Promise<void> {
    this.#isLoading = false
    await this.#loading
    this.endpoint.trouble = 0
  }

  async drop(mode: 'delta' | 'full', text: string): Promise<void> {
    await this.site.drop(`n${String(this.site.dropped).padStart(6, '0')}_${mode}.csv`, text)
  }

  /** Waits until all is at rest and compares the newest state of every product. */
  async compare(): Promise<void> {
    await this.stopLoad()
    await this.endpoint.settled()
    await this.site.untilQuiet({ withinMs: this.#restWithinMs })
    await this.endpoint.settled()
    const { stale, lost, foreign } = this.endpoint.differences(this.shop.expected())
    this.tally.compared += 1
    this.tally.stale += stale.length
    this.tally.lost += lost.length
    this.tally.foreign += foreign.length
    const [first] = [...stale, ...lost, ...foreign]
    if (first !== undefined) this.#describe(first)
  }

  get daemon(): Child {
    if (!this.#daemon) throw new Error('no daemon was started')
    return this.#daemon
  }

  /** Started again whenever it ends by itself. */
  async startDaemon(): Promise<Child> {
    const child = await this.site.spawn()
    this.#daemon = child
    void this.#supervise(child)
    await this.site.untilLogged(child, 'watching and importing').catch((error: unknown) => {
      // The supervisor's next one is waited for instead.
      if (this.#daemon === child) throw error
    })
    return child
  }

  async killDaemon(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#daemon
    this.#daemon = undefined
    await child?.kill(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopLoad()
    await this.killDaemon('SIGTERM')
    await this.site[Symbol.asyncDispose]()
    await this.redis?.[Symbol.asyncDispose]()
    await this.endpoint[Symbol.asyncDispose]()
  }

  async #supervise(child: Child): Promise<void> {
    await child.ended()
    if (this.#daemon !== child || this.tally.restarts >= restartsMax) return
    this.tally.restarts += 1
    console.log(`the daemon ended by itself:\n${child.stderr.split('\n').slice(-8).join('\n')}`)
    await this.startDaemon().catch(() => undefined)
  }

  async #dropFiles(): Promise<void> {
    while (this.#isLoading) {
      await delay(this.random.between(50, 400))
      if (this.site.dropped - this.#imported() > filesAheadMax) continue
      const { mode, text } = this.shop.edit()
      await this.drop(mode, text)
    }
  }

  /** Sequence of the newest file. */
  #imported(): number {
    using mirror = this.site.openMirror()
    const [newest] = mirror.applied('products' as FeedName)
    return newest?.sequence ?? 0
  }

  #stories(ids: readonly string[]): string {
    return ids.map((id) => `${id} came as\n  ${this.endpoint.story(id)}`).join('\n')
  }

  #describe(id: string): void {
    const wanted = this.shop.expected().get(id)
    console.log(`${this.#stories([id])}\nwanted\n  ${wanted}\n${this.site.logs()}`)
  }
}

/** Its append-only file is never rewritten, so that it can be cut at any moment of before. */
async function startOwnRedis(kind: 'aof' | 'rdb'): Promise<RedisServer> {
  return startRedis({ aof: kind === 'aof', config: { 'auto-aof-rewrite-percentage': '0' } })
}
