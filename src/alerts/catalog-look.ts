import { join } from 'node:path'
import type { CatalogConfig } from '../config/model.ts'
import { readConsentOverview } from '../consents/reader.ts'
import { parseHeld } from '../imports/held.ts'
import type { MirrorReader } from '../mirror/model.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { readOverview } from '../outbox/overview.ts'
import type { RedisConnections } from '../redis/connections.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { lookAtHeld, lookAtNotices } from './look-at-feeds.ts'
import { lookAtOutbox } from './look-at-outbox.ts'
import { lostByRedis } from './look-at-storage.ts'
import type { Condition } from './model.ts'

/** A catalog that this process accepts and imports. */
export interface WatchedCatalog {
  catalog: CatalogConfig
  manifest: ManifestView
  mirror: MirrorReader
}

interface LookOptions extends WatchedCatalog {
  stateDir: string
  connections: RedisConnections
  urgentLagMs: number
}

/** Looks at what mirror and Redis hold of one catalog. */
export class CatalogLook {
  readonly #options: LookOptions
  /** The newest loss that was told. */
  #lossMs: number | undefined

  constructor(options: LookOptions) {
    this.#options = options
    this.#lossMs = options.mirror.repair().lastLossMs
  }

  lookAtMirror(): Condition[] {
    const { catalog, mirror } = this.#options
    const held = [...mirror.held()].map(([feed, text]) => [feed, parseHeld(text)] as const)
    const texts = [...mirror.notices()].map(([key, json]) => [key, (JSON.parse(json) as Notice).text])
    return [
      ...this.#lookAtLoss(),
      ...lookAtHeld(catalog, new Map(held)),
      ...lookAtNotices(catalog, Object.fromEntries(texts)),
    ]
  }

  /** Throws what Redis throws. */
  async lookAtDelivery(nowMs: number): Promise<Condition[]> {
    const { catalog, mirror, connections, urgentLagMs, stateDir } = this.#options
    const connection = connections.commands
    const keys = catalogKeys(catalog.name)
    const deferredAfterMs = catalog.deferred.afterMs
    const overview = await readOverview({ connection, keys, mirror, nowMs, deferredAfterMs })
    const conditions = lookAtOutbox({ catalog, kind: 'products', overview, urgentLagMs })
    if (catalog.consents.feeds.size === 0) return conditions
    const consents = readConsentOverview(join(stateDir, catalog.name), nowMs)
    return [...conditions, ...lookAtOutbox({ catalog, kind: 'consents', overview: consents, urgentLagMs })]
  }

  /** A repair may take less time than passes between two looks: then it is told once, and over at the next look. */
  #lookAtLoss(): Condition[] {
    const { catalog, mirror, connections } = this.#options
    const { lastLossMs, repairing } = mirror.repair()
    if (!repairing && lastLossMs === this.#lossMs) return []
    if (!repairing) this.#lossMs = lastLossMs
    return [{ ...lostByRedis(connections.address), catalog: catalog.name }]
  }
}

interface Notice {
  text: string
}
