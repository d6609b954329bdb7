import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogConfig } from './config/model.ts'
import type { LogLevel } from './lib/log.ts'
import { programFile } from './lib/program-file.ts'
import type { Watchdog } from './lib/watchdog.ts'
import { moveLog } from './mirror/checkpointer.ts'
import { LiveMirror } from './mirror/live-mirror.ts'
import type { MirrorThreadData } from './mirror-thread.ts'
import { endpointOf } from './outbox/endpoint.ts'
import { catalogKeys } from './outbox/keys.ts'
import type { Offered } from './outbox/model.ts'
import { RedisOutbox, type RedisOutboxOptions } from './outbox/outbox.ts'
import { OutboxScripts } from './outbox/scripts/scripts.ts'
import type { RedisConnections } from './redis/connections.ts'
import type { ManifestView } from './sources/manifest-index.ts'
import { mirrorFileName, placeOf, type StorageOptions, stateDirOf } from './storage.ts'

/**
 * A catalog's mirror for writing: by the process that holds the lock of the state folder, once a catalog. What stands in the
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
