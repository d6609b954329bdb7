import type { CatalogConfig } from '../../config/model.ts'
import type { CatalogName } from '../../lib/brand.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { openMirror } from '../../storage.ts'
import type { Configured } from '../configured.ts'
import type { Figures } from '../figures.ts'
import type { ReadThread } from '../read-thread.ts'

interface KeeperOptions {
  configured: () => Configured
  thread: ReadThread
  figures: Figures
  clock: Clock
  log: Log
  /** Between two looks; default 20 s. */
  everyMs?: number
}

const everyMsDefault = 20_000
/** So long it works before it looks whether something else has begun. */
const turnMs = 2_000

/** Brings the indexes of words up to date while nothing is imported and nothing delivered. */
export class IndexKeeper implements AsyncDisposable {
  readonly #options: KeeperOptions
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  /** The numbers of the mirror that the index knows. */
  readonly #known = new Map<CatalogName, string>()

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { configured, clock, log, everyMs = everyMsDefault } = this.#options
    const { signal } = this.#stop
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal).catch(() => undefined)
      for (const catalog of configured().catalogs) {
        try {
          while (!signal.aborted && (await this.#isBehindAndIdle(catalog))) await this.#work(catalog)
        } catch (error) {
          if (!signal.aborted) log.warn({ err: error }, 'the index of words could not be brought up to date')
        }
      }
    }
  }

  async #isBehindAndIdle(catalog: CatalogConfig): Promise<boolean> {
    const { configured, figures } = this.#options
    using mirror = await openMirror(configured().config, catalog)
    const isImporting = mirror.progress().size > 0
    const isDelivering = (figures.samples(catalog.name).at(-1)?.productsPerSecond ?? 0) > 0
    return (
      !isImporting &&
      !isDelivering &&
      this.#known.get(catalog.name) !== JSON.stringify(mirror.identity().last)
    )
  }

  async #work({ name }: CatalogConfig): Promise<void> {
    const { known } = await this.#options.thread.read('indexWords', name, turnMs)
    if (known !== undefined) this.#known.set(name, known)
  }
}
