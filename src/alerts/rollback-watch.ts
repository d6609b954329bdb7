import { randomUUID } from 'node:crypto'
import type { CatalogConfig } from '../config/model.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { ManifestView } from '../sources/manifest-index.ts'

interface RollbackOptions {
  catalog: CatalogConfig
  keys: CatalogKeys
  manifest: ManifestView
}

/**
 * Notices that Redis was wiped or went back: a mark that grows with each look is smaller than it was, or gone. Importing
 * notices by itself and within seconds; this is only for the operator.
 *
 * whole → (the mark is not what it was) → lost → (every feed's newest file is applied again) → whole
 */
export class RollbackWatch {
  readonly #options: RollbackOptions
  readonly #token = randomUUID()
  /** What Redis is known to have stored; 0: nothing yet. */
  #stored = 0
  #asked = 0
  #isLost = false

  constructor(options: RollbackOptions) {
    this.#options = options
  }

  /** True while something is lost; throws what Redis throws. */
  async look(connection: RedisConnection): Promise<boolean> {
    const { alertMark } = this.#options.keys
    const [token, count] = ((await connection.get(alertMark)) ?? '').split(' ')
    // A mark of another process: it took over, and looks by itself.
    const isOurs = token === '' || token === this.#token
    const isBack = this.#stored > 0 && isOurs && Number(count ?? 0) < this.#stored
    if (isBack) this.#isLost = true
    else if (this.#isLost && (await this.#isApplied(connection))) this.#isLost = false
    this.#asked += 1
    await connection.set(alertMark, `${this.#token} ${this.#asked}`)
    this.#stored = this.#asked
    return this.#isLost
  }

  async #isApplied(connection: RedisConnection): Promise<boolean> {
    const { catalog, keys, manifest } = this.#options
    const applied = await connection.hgetall(keys.applied)
    return [...catalog.feeds.values()]
      .filter(({ kind }) => kind === 'products')
      .every(({ name }) => Number(applied[name] ?? 0) >= (manifest.newest(name)?.sequence ?? 0))
  }
}
