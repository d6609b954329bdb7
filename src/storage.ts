import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { CatalogConfig, Config } from './config/model.ts'
import type { CatalogName } from './lib/brand.ts'
import type { Clock } from './lib/clock.ts'
import { StorageError } from './lib/errors.ts'
import type { Log, LogLevel } from './lib/log.ts'
import { programFile } from './lib/program-file.ts'
import type { Watchdog } from './lib/watchdog.ts'
import { moveLog } from './mirror/checkpointer.ts'
import { LiveMirror } from './mirror/live-mirror.ts'
import { MirrorReader } from './mirror/reader.ts'
import { missingMirror } from './mirror/schema.ts'
import type { MirrorThreadData } from './mirror-thread.ts'
import { endpointOf } from './outbox/endpoint.ts'
import type { MirrorPlace } from './outbox/guard.ts'
import { catalogKeys } from './outbox/keys.ts'
import type { Offered } from './outbox/model.ts'
import { RedisOutbox, type RedisOutboxOptions } from './outbox/outbox.ts'
import { OutboxScripts } from './outbox/scripts/scripts.ts'
import { type OpenRedisOptions, openRedis, type RedisConnections } from './redis/connections.ts'
import type { ManifestView } from './sources/manifest-index.ts'
import { readManifest } from './sources/manifest-reader.ts'

export const mirrorFileName = 'catalog.db'

export interface StorageOptions {
  config: Config
  clock: Clock
  log: Log
  signal?: AbortSignal
  /** For what has something to do also while a given Redis is away. */
  mayBeDown?: boolean
  /** What is printed tells of outages. */
  isQuiet?: boolean
}

const downAfterMs = 2_000

/** Redis, embedded or given, for as long as a command needs it. */
export async function openStorage({ config, ...options }: StorageOptions) {
  await using stack = new AsyncDisposableStack()
  const within = options.mayBeDown ? { openWithinMs: downAfterMs } : {}
  const at = async (): Promise<Pick<OpenRedisOptions, 'address' | 'cleanRuns' | 'openWithinMs'>> => {
    if (config.redisUrl !== '') return { address: { kind: 'url', url: config.redisUrl }, ...within }
    const { openEmbeddedRedis } = await import('./redis/embedded-redis.ts')
    const dir = join(config.stateDir, 'redis')
    const embedded = await openEmbeddedRedis({ dir, ...options }).catch((error: unknown) => {
      // Who is to tell of outages tells of this one: it runs, and whoever started it waits for it.
      if (options.isQuiet && error instanceof StorageError && error.code === 'redis-silent') return undefined
      throw error
    })
    if (!embedded) return { address: { kind: 'socket', path: join(dir, 'redis.sock') }, ...within }
    const { socketPath, cleanRuns } = stack.use(embedded)
    return { address: { kind: 'socket', path: socketPath }, cleanRuns }
  }
  const connections = stack.use(await openRedis({ ...options, ...(await at()) }))
  const opened = stack.move()
  return { connections, [Symbol.asyncDispose]: () => opened.disposeAsync() }
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
  return new MirrorReader(existsSync(file) ? file : undefined)
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
  isDelivering,
  ...options
}: MirrorThreadOptions): Promise<LiveMirror> {
  const { name: catalogName, delivery, deferred, api } = catalog
  const file = join(stateDirOf(config, catalog.name), mirrorFileName)
  // Where there is a mirror, at most keys are left to be removed, which the next start does.
  if (!existsSync(file) || connections.failure === undefined) {
    const { upgradeCatalog } = await import('./upgrade/upgrade.ts')
    using work = watchdog.watch(`moving ${catalogName} out of Redis`)
    const log = options.log.child({ catalog: catalogName })
    await upgradeCatalog({ ...options, log, catalog: catalogName, file, manifest, connections, work })
  }
  const logLevel = options.log.level as LogLevel
  const workerData: MirrorThreadData = {
    ...{ file, isExpected: manifest.nextSequence !== 1, kept: config.history, logLevel },
    redis: connections.target,
    checkpoints: watchdog.runBeside(moveLog),
    outbox: {
      ...{ catalog: catalogName, delivery, deferredAfterMs: deferred.afterMs, endpoint: endpointOf(api) },
      place: placeOf(config, catalogName),
      ...{ isDelivering, pendingBytes: config.redisPendingBytes },
      cleanRuns: connections.cleanRuns,
    },
  }
  return LiveMirror.open({
    ...options,
    entry: programFile('./mirror-thread.ts', import.meta.url),
    workerData,
  })
}

interface MirrorThreadOptions extends Pick<StorageOptions, 'config' | 'clock' | 'log'> {
  catalog: CatalogConfig
  connections: RedisConnections
  manifest: ManifestView
  watchdog: Watchdog
  isDelivering: boolean
  /** Something may be due for delivery. */
  onOffered: (offered: Offered) => void
  onFatal: (error: unknown) => void
}

/** One catalog's outbox over open connections. */
export async function openOutbox({
  catalog,
  connections,
  clock,
  ...mirror
}: OutboxOptions): Promise<RedisOutbox> {
  const keys = catalogKeys(catalog.name)
  const { api, delivery, deferred } = catalog
  return new RedisOutbox({
    ...{ keys, delivery, deferred, clock, ...mirror },
    connection: connections.commands,
    scripts: await OutboxScripts.read(keys),
    endpoint: () => endpointOf(api),
  })
}

interface OutboxOptions extends Pick<RedisOutboxOptions, 'clock' | 'mirrorId' | 'mirror'> {
  catalog: CatalogConfig
  connections: RedisConnections
}

/** Where the mirror is, for people. */
export function placeOf(config: Config, catalog: CatalogName): MirrorPlace {
  return { host: hostname(), folder: stateDirOf(config, catalog) }
}

export function stateDirOf(config: Pick<Config, 'stateDir'>, catalog: CatalogName): string {
  return join(config.stateDir, catalog)
}
