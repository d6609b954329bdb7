import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { CatalogConfig, Config } from './config/model.ts'
import type { CatalogName } from './lib/brand.ts'
import type { Clock } from './lib/clock.ts'
import { StorageError } from './lib/errors.ts'
import type { Log } from './lib/log.ts'
import { MirrorReader } from './mirror/reader.ts'
import { missingMirror } from './mirror/schema.ts'
import type { MirrorPlace } from './outbox/guard.ts'
import { type OpenRedisOptions, openRedis } from './redis/connections.ts'
import { readManifest } from './sources/manifest-reader.ts'
import { isFull } from './sources/space.ts'

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
      // The caller reports outages itself: a server that runs and does not answer yet, or a full disk.
      const isSilent = error instanceof StorageError && error.code === 'redis-silent'
      if (options.isQuiet && (isSilent || isFull(error))) return undefined
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

/** Where the mirror is, for people. */
export function placeOf(config: Config, catalog: CatalogName): MirrorPlace {
  return { host: hostname(), folder: stateDirOf(config, catalog) }
}

export function stateDirOf(config: Pick<Config, 'stateDir'>, catalog: CatalogName): string {
  return join(config.stateDir, catalog)
}
