import type { Clock } from '../lib/clock.ts'
import type { Mirror } from '../mirror/reader.ts'

/** How long updates are gathered for one transaction: each costs an fsync, and writes the same pages of indexes again. */
const gatherMs = 100
const promptBytesMax = 1_000_000

/**
 * Updates of one import, several in a transaction: one transaction is under way while the next is gathered. To be ended in
 * any case.
 */
export class GatheredUpdates {
  readonly #mirror: Mirror
  readonly #clock: Clock
  #since: number | undefined
  #gathered: Promise<void>[] = []
  #underWay: Promise<unknown> = Promise.resolve()

  readonly #gathers: boolean

  /** Those of a small file (`bytes`) wait for nobody. */
  constructor(mirror: Mirror, { clock, bytes }: { clock: Clock; bytes: number }) {
    this.#gathers = bytes > promptBytesMax
    this.#mirror = mirror
    this.#clock = clock
  }

  /** Throws when an earlier update failed. */
  async add(...[ids, plan]: Parameters<Mirror['update']>): Promise<void> {
    const update = this.#mirror.update(ids, plan, { gather: this.#gathers })
    update.catch(() => undefined)
    this.#gathered.push(update)
    this.#since ??= this.#clock.monotonic()
    if (this.#clock.monotonic() - this.#since >= gatherMs) await this.#flush()
  }

  /** Resolves when all is durable. */
  async end(): Promise<void> {
    await this.#flush()
    await this.#underWay
  }

  async #flush(): Promise<void> {
    const gathered = this.#gathered
    const before = this.#underWay
    this.#gathered = []
    this.#since = undefined
    this.#underWay = Promise.all(gathered)
    this.#underWay.catch(() => undefined)
    if (this.#gathers) this.#mirror.flush()
    await before
  }
}
