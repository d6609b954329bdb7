import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogConfig, Config } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { StorageError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { readGuard } from '../outbox/guard.ts'
import { catalogKeys } from '../outbox/keys.ts'
import type { RedisConnections } from '../redis/connections.ts'
import type { Role } from '../service.ts'
import { manifestFileName } from '../sources/manifest.ts'
import type { ReadManifest } from '../sources/manifest-reader.ts'
import { type LockHolder, readLockHolder, tryStateLock } from '../sources/state-lock.ts'
import { mirrorFileName, placeOf } from '../storage.ts'

export interface OperationContext {
  config: Config
  catalog: CatalogConfig
  connections: RedisConnections
  clock: Clock
  log: Log
  signal: AbortSignal
  /** Of who reads often; default: the manifest is read from its beginning each time. */
  readManifest?: ReadManifest | undefined
}

/** The process that accepts and imports on this state folder; undefined when none does. */
export function findDaemon({ config, clock }: Pick<OperationContext, 'config' | 'clock'>) {
  return readLockHolder({ file: join(config.stateDir, 'lock'), clock })
}

/**
 * Throws a StorageError where the catalog's state is elsewhere: a mirror made here would contradict it, and
 * whoever adopts that mirror empties the keys in Redis that the other one works with.
 */
export async function refuseElsewhere({ config, catalog, connections }: OperationContext): Promise<void> {
  const { host, folder } = placeOf(config, catalog.name)
  const isHere = [mirrorFileName, manifestFileName].some((name) => existsSync(join(folder, name)))
  if (isHere || connections.failure) return
  const guard = await readGuard(connections.commands, catalogKeys(catalog.name))
  if (!guard || (guard.host === host && guard.folder === folder)) return
  throw new StorageError(
    'state-elsewhere',
    `the state of catalog ${catalog.name} is in ${guard.folder} on ${guard.host}, and there is none in ${folder}`,
    {
      hint: 'Run the command there; if that state folder is gone for good, start catalogd here and run "catalogd adopt"',
    },
  )
}

/** For what nothing else may do anything beside. Throws a StorageError when another process works on the state folder. */
export async function withoutDaemon<T>(
  { config, clock }: Pick<OperationContext, 'config' | 'clock'>,
  work: () => Promise<T>,
): Promise<T> {
  const { promise: lost, reject: onLost } = Promise.withResolvers<never>()
  const file = join(config.stateDir, 'lock')
  const lock = await tryStateLock({ file, clock, onLost })
  if (!lock) {
    const holder = await readLockHolder({ file, clock })
    const who = holder ? `catalogd (pid ${holder.pid} on ${holder.host})` : 'Another catalogd'
    throw new StorageError('daemon-running', `${who} works on ${config.stateDir}`, {
      hint: 'Stop it, and run the command again',
    })
  }
  try {
    return await Promise.race([work(), lost])
  } finally {
    await lock[Symbol.asyncDispose]()
  }
}

export interface WorkHere extends AsyncDisposable {
  /** Whose work is waited for; undefined: this process does it. */
  daemon: LockHolder | undefined
  /** Rejects when the work of this process cannot go on. */
  failed: Promise<never>
}

/**
 * When a daemon runs on the state folder it does the work; otherwise this process runs the roles itself, without looking
 * at the drop folders.
 */
export async function openWorkHere(context: OperationContext, roles: readonly Role[]): Promise<WorkHere> {
  const { promise: failed, reject } = Promise.withResolvers<never>()
  // Whoever waits for the work races it against this; nobody may be waiting yet.
  failed.catch(() => undefined)
  const daemon = await findDaemon(context)
  if (daemon) return { daemon, failed, [Symbol.asyncDispose]: async () => undefined }
  const { config, catalog, connections, clock, log } = context
  const { openService } = await import('../service.ts')
  const service = await openService({
    config,
    catalogs: [catalog],
    roles: new Set(roles),
    connections,
    watchesDropFolders: false,
    clock,
    log,
    onFatal: reject,
  })
  return { daemon: undefined, failed, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
}
