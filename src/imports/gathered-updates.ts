import type { Clock } from '../lib/clock.ts'
import type { Mirror } from '../mirror/reader.ts'
import { smallBytesMax } from './import-turns.ts'

/** How long updates are gathered for one transaction: each costs an fsync, and writes the same pages of indexes again. */
const gatherMs = 100
/** The same while none is under way: the mirror has nothing else to do. */
const idleGatherMs = 25

/**
 * Updates of one import, several in a transaction: one transaction is under way while the next is gathered. To be ended in
 * any case.
 */
export class GatheredUpdates {
  readonly #mirror: Mirror
  readonly #clock: Clock
  #since: number | undefined
  #gathered: Promise<void>[] = []
  #underWay: Promise<unknown> | undefined

  readonly #gathers: boolean

  /** Those of a small file (`bytes`) wait for nobody. */
  constructor(mirror: Mirror, { clock, bytes }: { clock: Clock; bytes: number }) {
    this.#gathers = bytes > smallBytesMax
    this.#mirror = mirror
    this.#clock = clock
  }

  /** Throws when an earlier update failed. */
  async add(...[ids, plan]: Parameters<Mirror['update']>): Promise<void> {
    const update = this.#mirror.update(ids, plan, { gather: this.#gathers })
    update.catch(() => undefined)
    this.#gathered.push(update)
    this.#since ??= this.#clock.monotonic()
    const longMs = this.#underWay ? gatherMs : idleGatherMs
    if (this.#clock.monotonic() - this.#since >= longMs) await this.#flush()
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
    const underWay = Promise.all(gathered)
    this.#underWay = underWay
    // An error stays, for whoever waits.
    underWay.then(
      () => {
        if (this.#underWay === underWay) this.#underWay = undefined
      },
      () => undefined,
    )
    if (this.#gathers) this.#mirror.flush()
    await before
  }
}
