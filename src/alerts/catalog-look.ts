import { join } from 'node:path'
import type { CatalogConfig } from '../config/model.ts'
import { readConsentOverview } from '../consents/reader.ts'
import { parseHeld } from '../imports/held.ts'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { readOverview } from '../outbox/overview.ts'
import type { RedisConnections } from '../redis/connections.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { lookAtHeld, lookAtNotices } from './look-at-feeds.ts'
import { lookAtOutbox } from './look-at-outbox.ts'
import { rolledBack } from './look-at-storage.ts'
import type { Condition } from './model.ts'
import { RollbackWatch } from './rollback-watch.ts'

/** A catalog that this process accepts and imports. */
export interface WatchedCatalog {
  catalog: CatalogConfig
  manifest: ManifestView
}

interface LookOptions extends WatchedCatalog {
  stateDir: string
  connections: RedisConnections
  urgentLagMs: number
  clock: Clock
}

/** Looks at what is known of one catalog. */
export class CatalogLook {
  readonly #catalog: CatalogConfig
  readonly #connections: RedisConnections
  readonly #urgentLagMs: number
  readonly #rollback: RollbackWatch
  readonly #keys
  /** `state/<catalog>`. */
  readonly #dir: string
  readonly #clock: Clock

  constructor(options: LookOptions) {
    const { catalog, manifest, connections, urgentLagMs, stateDir, clock } = options
    this.#catalog = catalog
    this.#connections = connections
    this.#urgentLagMs = urgentLagMs
    this.#keys = catalogKeys(catalog.name)
    this.#dir = join(stateDir, catalog.name)
    this.#clock = clock
    this.#rollback = new RollbackWatch({ catalog, manifest, keys: this.#keys })
  }

  /** Throws what Redis throws. */
  async look(): Promise<Condition[]> {
    const { commands, address } = this.#connections
    const catalog = this.#catalog
    const keys = this.#keys
    const conditions: Condition[] = []
    if (await this.#rollback.look(commands)) {
      conditions.push({ ...rolledBack(address), catalog: catalog.name })
    }
    const [held, notices] = await Promise.all([commands.hgetall(keys.held), commands.hgetall(keys.notices)])
    const heldByFeed = Object.entries(held).map(
      ([feed, text]) => [feed as FeedName, parseHeld(text)] as const,
    )
    conditions.push(...lookAtHeld(catalog, new Map(heldByFeed)))
    const texts = Object.entries(notices).map(([key, json]) => [key, (JSON.parse(json) as Notice).text])
    conditions.push(...lookAtNotices(catalog, Object.fromEntries(texts)))
    const urgentLagMs = this.#urgentLagMs
    const overview = await readOverview(commands, keys)
    conditions.push(...lookAtOutbox({ catalog, kind: 'products', overview, urgentLagMs }))
    if (catalog.consents.feeds.size === 0) return conditions
    const consents = readConsentOverview(this.#dir, this.#clock.now())
    return [...conditions, ...lookAtOutbox({ catalog, kind: 'consents', overview: consents, urgentLagMs })]
  }
}

interface Notice {
  text: string
}
