import { join } from 'node:path'
import type { CatalogConfig, FeedKind } from '../config/model.ts'
import { ConsentReader } from '../consents/reader.ts'
import { parseHeld } from '../imports/context.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import { type OutboxOverview, readOverview } from '../outbox/overview.ts'
import type { RedisConnections, RedisState } from '../redis/connections.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { freeBytes, spareBytes } from '../sources/space.ts'
import type { Condition } from './alert-book.ts'
import { lookAtHeld, lookAtNotices } from './look-at-feeds.ts'

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
    const overview = await readOverview({ catalog, connection: connections.commands, mirror, nowMs })
    const conditions = lookAtOutbox({ catalog, kind: 'products', overview, urgentLagMs })
    if (catalog.consents.feeds.size === 0) return conditions
    using reader = ConsentReader.open(join(stateDir, catalog.name))
    const consents = reader.overview(nowMs)
    return [...conditions, ...lookAtOutbox({ catalog, kind: 'consents', overview: consents, urgentLagMs })]
  }

  /** A repair may take less time than passes between two looks: then it is told once, and over at the next look. */
  #lookAtLoss(): Condition[] {
    const { catalog, mirror, connections } = this.#options
    const { lastLossMs, repairing } = mirror.repair()
    if (lastLossMs === this.#lossMs) return []
    if (!repairing) this.#lossMs = lastLossMs
    return [{ ...lostByRedis(connections.address), catalog: catalog.name }]
  }
}

interface Notice {
  text: string
}

interface Looked {
  catalog: CatalogConfig
  kind: FeedKind
  overview: OutboxOverview
  urgentLagMs: number
}

/** What is wrong with delivering. Pure. */
function lookAtOutbox({ catalog: { name: catalog }, kind, overview, urgentLagMs }: Looked): Condition[] {
  const conditions: Condition[] = []
  const place = { catalog, subject: kind }
  for (const { reason, since, hint } of overview.paused) {
    if (reason === 'operator') continue
    const message =
      reason === 'credentials'
        ? `The endpoint refuses the credentials: no ${kind} are sent`
        : `The endpoint refuses everything: no ${kind} are sent`
    conditions.push({ ...place, kind: reason, severity: 'critical', message, hint, occurrence: since })
  }
  const { waiting, oldestMs } = overview.lanes.urgent
  if (waiting > 0 && oldestMs > urgentLagMs) {
    const what = kind === 'products' ? 'price and availability changes' : 'revocations'
    const last = overview.lastFailure ? `. The last failed call: ${overview.lastFailure.text}` : ''
    conditions.push({
      ...place,
      kind: 'urgent-lag',
      severity: 'critical',
      message: `${waiting} ${what} wait, the first for ${Math.round(oldestMs / 1000)} s${last}`,
      hint: 'catalogd status says what keeps them',
    })
  }
  if (overview.dead > 0) {
    const list = kind === 'products' ? 'catalogd dead list' : 'catalogd dead list --consents'
    conditions.push({
      ...place,
      kind: 'dead-letters',
      severity: 'warning',
      message: `The endpoint refused ${overview.dead} ${kind}`,
      hint: `${list} says why`,
    })
  }
  return conditions
}

/** A Redis that is started again is back before. */
const redisLastsMs = 20_000

/** Pure. */
export function lookAtRedis(state: RedisState): Condition[] {
  const condition = (subject: string, message: string, hint: string): Condition[] => [
    { kind: 'redis', subject, severity: 'critical', message, hint, forMs: redisLastsMs },
  ]
  if (!state.up) {
    const hint =
      'Files are still accepted and imported, and consents sent; everything else goes on by itself when it is back'
    return condition('down', `Redis at ${state.address} cannot be reached: ${state.error}`, hint)
  }
  const { aof, usedMemoryBytes, maxMemoryBytes } = state.info
  if (aof === 'failing') {
    const message = `Redis at ${state.address} cannot write its append-only file and refuses all changes`
    return condition('read-only', message, 'Free disk space there; everything goes on by itself')
  }
  if (!state.info.isShortOfMemory) return []
  const used = usedMemoryBytes < maxMemoryBytes ? 'is nearly out of memory' : 'has no memory left'
  const message = `Redis at ${state.address} ${used} (maxmemory)`
  return condition('memory', message, 'Give it more; imports go on, and everything else by itself')
}

/** Seen directly: a Redis on the same disk could not tell. */
export async function lookAtDisk(stateDir: string): Promise<Condition[]> {
  if ((await freeBytes(stateDir)) >= spareBytes) return []
  return [
    {
      ...{ kind: 'disk', subject: 'state', severity: 'critical' },
      message: `The disk of ${stateDir} is full: no file is accepted`,
      hint: 'Free some space there; accepting goes on by itself',
    },
  ]
}

/** Redis was wiped, or went back to an earlier state; it is over when what is missing was offered again. */
function lostByRedis(address: string): Condition {
  return {
    ...{ kind: 'redis', subject: 'rolled-back', severity: 'warning' },
    message: `Redis at ${address} lost what it held; it is filled again from the mirror`,
    hint: 'Nothing is lost, but products may be sent twice. Find out why: a restart without its data, a failover, FLUSHALL',
  }
}
