import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { CatalogConfig, Config } from './config/model.ts'
import type { CatalogName } from './lib/brand.ts'
import type { Clock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import { ReleaseStack } from './lib/release-stack.ts'
import { catalogKeys } from './outbox/keys.ts'
import { RedisOutbox } from './outbox/outbox.ts'
import { OutboxScripts } from './outbox/scripts.ts'
import { openRedis, type RedisConnections } from './redis/connections.ts'
import { openEmbeddedRedis } from './redis/embedded-redis.ts'

export interface StorageOptions {
  config: Config
  clock: Clock
  log: Log
  signal?: AbortSignal
}

/** Redis, embedded or given, for as long as a command needs it. */
export async function openStorage({ config, clock, log, signal }: StorageOptions) {
  const stack = new ReleaseStack()
  try {
    const until = signal ? { signal } : {}
    if (config.redisUrl !== '') {
      const address = { kind: 'url', url: config.redisUrl } as const
      const connections = stack.use('Redis connections', await openRedis({ address, clock, log, ...until }))
      return { connections, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
    }
    const dir = join(config.stateDir, 'redis')
    const server = stack.use('embedded Redis', await openEmbeddedRedis({ dir, clock, log, ...until }))
    const address = { kind: 'socket', path: server.socketPath } as const
    const connections = stack.use('Redis connections', await openRedis({ address, clock, log, ...until }))
    return { connections, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
  } catch (error) {
    await stack[Symbol.asyncDispose]()
    throw error
  }
}

/** Whether anything was ever stored; false only for an embedded Redis that never ran. */
export async function hasStorage(config: Config): Promise<boolean> {
  if (config.redisUrl !== '') return true
  return access(join(config.stateDir, 'redis')).then(
    () => true,
    () => false,
  )
}

/** What is known of a catalog's products, for reading only. */
export function openMirror(catalog: CatalogConfig, connections: RedisConnections) {
  return { connection: connections.commands, keys: catalogKeys(catalog.name) }
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
    clock,
  })
  return { keys, scripts, outbox }
}

export function stateDirOf(config: Config, catalog: CatalogName): string {
  return join(config.stateDir, catalog)
}
