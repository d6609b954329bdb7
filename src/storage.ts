import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { CatalogConfig, Config } from './config/model.ts'
import type { CatalogName } from './lib/brand.ts'
import type { Clock } from './lib/clock.ts'
import type { Log, LogLevel } from './lib/log.ts'
import { ReleaseStack } from './lib/release-stack.ts'
import type { Watchdog } from './lib/watchdog.ts'
import { emptyMirror } from './mirror/empty-mirror.ts'
import { LiveMirror } from './mirror/live-mirror.ts'
import type { MirrorReader } from './mirror/model.ts'
import { MirrorFileReader } from './mirror/reader.ts'
import { missingMirror } from './mirror/schema.ts'
import type { MirrorThreadData } from './mirror-thread.ts'
import { endpointOf } from './outbox/endpoint.ts'
import type { MirrorPlace } from './outbox/guard.ts'
import { catalogKeys } from './outbox/keys.ts'
import { RedisOutbox } from './outbox/outbox.ts'
import { OutboxScripts } from './outbox/scripts.ts'
import { openRedis, type RedisConnections } from './redis/connections.ts'
import { openEmbeddedRedis } from './redis/embedded-redis.ts'
import type { ManifestView } from './sources/manifest-index.ts'
import { readManifest } from './sources/manifest-reader.ts'
import { upgradeCatalog } from './upgrade/upgrade.ts'

export const mirrorFileName = 'catalog.db'

export interface StorageOptions {
  config: Config
  clock: Clock
  log: Log
  signal?: AbortSignal
  /** For a command that has something to say also while a given Redis is away. */
  mayBeDown?: boolean
}

const downAfterMs = 2_000

/** Redis, embedded or given, for as long as a command needs it. */
export async function openStorage({ config, clock, log, signal, mayBeDown }: StorageOptions) {
  const stack = new ReleaseStack()
  try {
    const until = signal ? { signal } : {}
    if (config.redisUrl !== '') {
      const address = { kind: 'url', url: config.redisUrl } as const
      const within = mayBeDown ? { mayBeDown, openWithinMs: downAfterMs } : {}
      const opened = await openRedis({ address, clock, log, ...within, ...until })
      const connections = stack.use('Redis connections', opened)
      return { connections, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
    }
    const dir = join(config.stateDir, 'redis')
    const server = stack.use('embedded Redis', await openEmbeddedRedis({ dir, clock, log, ...until }))
    const address = { kind: 'socket', path: server.socketPath } as const
    const { cleanRuns } = server
    const opened = await openRedis({ address, clock, log, cleanRuns, ...until })
    const connections = stack.use('Redis connections', opened)
    return { connections, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
  } catch (error) {
    await stack[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * A catalog's mirror for reading, of a running daemon, too. Where nothing was ever accepted it is empty, and nothing is
 * made there; a manifest that has lost its mirror is refused.
 */
export async function openMirror(
  config: Config,
  { name }: Pick<CatalogConfig, 'name'>,
): Promise<MirrorReader> {
  const dir = stateDirOf(config, name)
  const file = join(dir, mirrorFileName)
  if (!existsSync(file)) {
    using manifest = await readManifest(dir)
    // It may have come into being meanwhile, and with it the first line.
    if (manifest.nextSequence !== 1 && !existsSync(file)) throw missingMirror(file)
  }
  if (!existsSync(file)) return emptyMirror()
  const mirror = new MirrorFileReader(file)
  if (mirror.isMade) return mirror
  mirror[Symbol.dispose]()
  return emptyMirror()
}

/**
 * The same for writing: by the process that holds the lock of the state folder, once a catalog. What stands in the
 * manifest tells whether there has been a mirror.
 */
export async function openMirrorThread({
  config,
  catalog,
  manifest,
  connections,
  watchdog,
  ...options
}: MirrorThreadOptions): Promise<LiveMirror> {
  const { name: catalogName, delivery, deferred, api } = catalog
  const file = join(stateDirOf(config, catalog.name), mirrorFileName)
  {
    using work = watchdog.watch(`moving ${catalogName} out of Redis`)
    const log = options.log.child({ catalog: catalogName })
    await upgradeCatalog({ ...options, log, catalog: catalogName, file, manifest, connections, work })
  }
  // Beside the sources in a checkout, beside the built files in the package.
  const name = import.meta.url.endsWith('.ts') ? './mirror-thread.ts' : './mirror-thread.js'
  const logLevel = options.log.level as LogLevel
  const workerData: MirrorThreadData = {
    ...{ file, isExpected: manifest.nextSequence !== 1, logLevel, redis: connections.target },
    outbox: {
      ...{ catalog: catalogName, delivery, deferredAfterMs: deferred.afterMs, endpoint: endpointOf(api) },
      place: placeOf(config, catalogName),
      pendingBytes: config.redisPendingBytes,
      cleanRuns: connections.cleanRuns,
    },
  }
  return LiveMirror.open({ ...options, entry: new URL(name, import.meta.url), workerData })
}

interface MirrorThreadOptions extends Pick<StorageOptions, 'config' | 'clock' | 'log'> {
  catalog: CatalogConfig
  connections: RedisConnections
  manifest: ManifestView
  watchdog: Watchdog
  /** Something may be due for delivery. */
  onOffered: () => void
  onFatal: (error: unknown) => void
}

/** One catalog's keys, scripts and outbox over open connections. */
export async function openOutbox(options: {
  catalog: CatalogConfig
  connections: RedisConnections
  clock: Clock
}) {
  const { catalog, connections, clock } = options
  const keys = catalogKeys(catalog.name)
  const scripts = await OutboxScripts.read(keys)
  const { delivery, deferred } = catalog
  const outbox = new RedisOutbox({
    connection: connections.commands,
    keys,
    scripts,
    delivery,
    deferred,
    endpoint: () => endpointOf(catalog.api),
    clock,
  })
  return { keys, scripts, outbox }
}

/** Where the mirror is, for people. */
export function placeOf(config: Config, catalog: CatalogName): MirrorPlace {
  return { host: hostname(), folder: stateDirOf(config, catalog) }
}

export function stateDirOf(config: Config, catalog: CatalogName): string {
  return join(config.stateDir, catalog)
}
