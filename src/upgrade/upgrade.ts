import { existsSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CatalogName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { ifPresent, StorageError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { syncFolder } from '../lib/system.ts'
import type { WatchedWork } from '../lib/watchdog.ts'
import type { MirrorChunk } from '../mirror/model.ts'
import { MirrorStore } from '../mirror/store.ts'
import { catalogKeys } from '../outbox/keys.ts'
import type { RedisConnections } from '../redis/connections.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { freeBytes } from '../sources/space.ts'
import { readBookkeeping } from './move-bookkeeping.ts'
import { moveProducts } from './move-products.ts'
import { isOldStore, type OldStore, oldKey, refuseOldHosts, removeOldKeys } from './old-keys.ts'

/** The log of the mirror, and what others write meanwhile. */
const spareBytes = 128 * 1024 * 1024
/** Pages are fuller, or less full, than what Redis needs for the same. */
const growth = 1.2
const tellEveryMs = 5_000
const chunksMax = 1_000

export interface UpgradeOptions {
  catalog: CatalogName
  /** Of the mirror. */
  file: string
  manifest: ManifestView
  connections: RedisConnections
  clock: Clock
  log: Log
  /** Told of each step. */
  work: Pick<WatchedWork, 'advance' | 'wait'>
}

/**
 * Moves what version 1 stored in Redis into the mirror. To be called by the holder of the state lock before the mirror is
 * opened; does nothing where version 1 never ran.
 *
 * Old keys → the mirror is filled under another name (a crash begins again) → it has its name → the old keys are removed
 * (a crash goes on with that) → done.
 */
export async function upgradeCatalog(options: UpgradeOptions): Promise<void> {
  const { catalog, file, manifest, connections, clock, log, work } = options
  const store: OldStore = { catalog, connection: connections.commands }
  try {
    if (!(await isOldStore(store, await readStateId(dirname(file))))) {
      if (!existsSync(file) && manifest.nextSequence !== 1) throw nothingToUpgrade(file)
      return
    }
    await refuseOldHosts(store, async (ms) => {
      log.info({ waitMs: ms }, 'waiting until the last calls of the earlier version can take no effect')
      using _ = work.wait()
      await clock.sleep(ms)
    })
    if (!existsSync(file)) await moveAll(store, options)
    await keepInRedis(store)
    work.advance()
    await removeOldKeys(store)
  } catch (error) {
    throw connections.explain(error)
  }
  log.info('the catalog has moved out of Redis')
}

async function moveAll(store: OldStore, options: UpgradeOptions): Promise<void> {
  const { file, manifest, clock, work } = options
  await checkSpace(store, dirname(file))
  const filling = `${file}.upgrading`
  await removeDatabase(filling)
  work.advance()
  {
    using mirror = MirrorStore.open({ file: filling, isExpected: false })
    await moveProducts(store, mirror, { nowMs: clock.now(), onMoved: await progressOf(store, options) })
    const chunks: MirrorChunk[] = []
    const commit = async () => {
      mirror.commit(() => chunks.shift(), clock.now())
      work.advance()
      await nextTurn()
    }
    for await (const chunk of readBookkeeping(store, manifest)) {
      chunks.push({ writes: [], ...chunk })
      if (chunks.length >= chunksMax) await commit()
    }
    await commit()
    // As after a loss: what is doubtful is echoed, once the last calls of version 1 can take no effect any more.
    mirror.remember({ runId: 'version 1', repairing: 'upgrade' })
  }
  work.advance()
  // Whoever was started meanwhile has changed what was read.
  await refuseOldHosts(store, async () => undefined)
  await rename(filling, file)
  await syncFolder(dirname(file))
  work.advance()
}

async function progressOf(store: OldStore, { clock, log, work }: UpgradeOptions) {
  const products = await store.connection.hlen(oldKey(store, 'meta'))
  log.info({ products }, 'moving the catalog out of Redis, which is done once')
  let moved = 0
  let toldAt = clock.monotonic()
  return async (count: number) => {
    moved += count
    work.advance()
    if (clock.monotonic() - toldAt >= tellEveryMs) {
      toldAt = clock.monotonic()
      log.info({ moved, products }, 'moving the catalog out of Redis')
    }
    // The console answers meanwhile.
    await nextTurn()
  }
}

/** What is no part of the mirror: why calls wait, and the counters that `status` shows. Safe to repeat. */
async function keepInRedis(store: OldStore): Promise<void> {
  const keys = catalogKeys(store.catalog)
  for (const name of ['pause', 'counters'] as const) {
    const fields = await store.connection.hgetall(oldKey(store, name))
    if (Object.keys(fields).length > 0) await store.connection.hset(keys[name], fields)
  }
}

async function checkSpace({ connection, ...store }: OldStore, dir: string): Promise<void> {
  let used = 0
  for (const name of ['documents', 'partials', 'meta', 'acknowledged'] as const)
    used += Number((await connection.memory('USAGE', oldKey(store, name), 'SAMPLES', 1_000)) ?? 0)
  const needed = Math.ceil(used * growth) + spareBytes
  const free = await freeBytes(dir)
  if (free >= needed) return
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`
  throw new StorageError(
    'disk-full',
    `the catalog moves out of Redis into ${dir} and needs about ${megabytes(needed)} there; ${megabytes(free)} are free`,
    { hint: 'Free some space there, then start catalogd again' },
  )
}

/** An empty mirror would take every file for new, and the archive may no longer hold them all: restoring looks. */
function nothingToUpgrade(file: string): StorageError {
  return new StorageError(
    'mirror-missing',
    `${file} is missing, although files were imported before, and Redis does not hold the catalog of an earlier version for this state folder either`,
    {
      hint: 'Put the last backup back with catalogd restore <folder>; without one, catalogd restore makes the catalog anew of the archive',
    },
  )
}

/** Version 1 gave every state folder an id, and noted in Redis whose keys they are. */
async function readStateId(dir: string): Promise<string | undefined> {
  return (await ifPresent(readFile(join(dir, 'id'), 'utf8')))?.trim()
}

async function removeDatabase(file: string): Promise<void> {
  for (const end of ['', '-wal', '-shm', '-journal']) await rm(`${file}${end}`, { force: true })
}
