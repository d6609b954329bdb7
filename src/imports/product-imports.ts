import { keyFieldsOf } from '../catalog/feed-key.ts'
import { rankFields } from '../catalog/ranks.ts'
import type { CatalogConfig } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { ReleaseStack } from '../lib/release-stack.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import { newAfterMs } from '../outbox/outbox.ts'
import type { OutboxScripts } from '../outbox/scripts.ts'
import { CatalogWriter } from '../outbox/writer.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { RedisConnections } from '../redis/connections.ts'
import type { ImportBook, ProductParts } from './context.ts'
import { decideHeld } from './decide-held.ts'
import { importFile } from './import-file.ts'
import { importProducts } from './import-products.ts'
import type { OpenedImports } from './import-runner.ts'
import { Importer, type ImporterOptions } from './importer.ts'
import { prepareKeyIndexes } from './key-indexes.ts'
import { Room } from './room.ts'
import { runAnnounced } from './run-announced.ts'
import { emptyTally, type Tally, tallyNames } from './tally.ts'
import { WriterLease } from './writer-lease.ts'

const verifyEveryMs = 2_000

export interface ProductImportOptions {
  catalog: CatalogConfig
  connections: RedisConnections
  keys: CatalogKeys
  scripts: OutboxScripts
  /** Identity of the manifest: its sequences mean nothing to another one. */
  stateId: string
  clock: Clock
  log: Log
  onOffered: () => void
  /** Trouble that keeps imports from going on; undefined: it is over. */
  onNotice: (text: string | undefined) => void
}

type Shared = Omit<
  ImporterOptions,
  'importFile' | 'decideHeld' | 'runAnnounced' | 'context' | 'onCaughtUp'
> & {
  context: Omit<ImporterOptions['context'], 'book' | 'room'>
}

/** Takes over the catalog in Redis and opens an importer of its products; waits for Redis and the writer's lease. */
export async function openProductImports(
  options: ProductImportOptions,
  shared: Shared,
  signal: AbortSignal,
): Promise<OpenedImports> {
  const { catalog, connections, keys, scripts, stateId, clock, log, onOffered, onNotice } = options
  await connections.waitUntilReady({ signal })
  const connection = connections.commands
  const stack = new ReleaseStack()
  try {
    const lease = stack.use(
      'lease',
      await WriterLease.take({ connection, keys, stateId, clock, log, signal }),
    )
    const delays = { deferredAfterMs: catalog.deferred.afterMs, newAfterMs }
    const own = await connections.openWriter()
    const writer = stack.use('writer', await CatalogWriter.open({ connection: own, keys, scripts, delays }))
    const known = await connection.get(keys.origin)
    if (known !== stateId) await writer.update([], () => ({ writes: [], origin: stateId }))
    const keyFields = keyFieldsOf(catalog.feeds)
    await prepareKeyIndexes({ connection, keys, keyFields, writer, log, catalog, signal })
    const ranks = rankFields(catalog.feeds)
    const parts: ProductParts = { ranks, keyFields, writer, connection, keys, onOffered }
    const room = new Room({ connections, clock, log, onNotice })
    const importer = new Importer({
      ...shared,
      context: { ...shared.context, room, book: redisBook({ connection, keys, writer }) },
      importFile: (context, accept) => importFile({ ...context, ...parts }, accept, importProducts),
      decideHeld: (context, step) => decideHeld({ ...context, ...parts }, step),
      runAnnounced: (context, work) => runAnnounced({ ...context, ...parts }, work),
      onCaughtUp: () => undefined,
    })
    const broken = new AbortController()
    const ended = new AbortController()
    const verifying = verify(writer, { clock, until: ended.signal }).catch((error: unknown) =>
      broken.abort(error),
    )
    stack.push('verifying', async () => {
      ended.abort()
      await verifying
    })
    return {
      importer,
      lost: lease.lost,
      broken: broken.signal,
      [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
    }
  } catch (error) {
    await stack[Symbol.asyncDispose]()
    throw error
  }
}

/** A Redis that loses what it holds while nothing is imported would otherwise be noticed with the next file only. */
async function verify(
  writer: CatalogWriter,
  { clock, until }: { clock: Clock; until: AbortSignal },
): Promise<void> {
  while (!until.aborted) {
    await clock.sleep(verifyEveryMs, until).catch(() => undefined)
    if (!until.aborted) await writer.verify()
  }
}

interface BookAccess {
  connection: RedisConnection
  keys: CatalogKeys
  writer: CatalogWriter
}

function redisBook({ connection, keys, writer }: BookAccess): ImportBook {
  return {
    applied: async (scope) => Number((await connection.hget(keys.applied, scope)) ?? 0),
    held: (feed: FeedName) => connection.hget(keys.held, feed),
    tally: (sequence) => readTally({ connection, keys }, sequence),
    update: (change) => writer.update([], () => ({ ...change, writes: [] })),
  }
}

async function readTally(
  { connection, keys }: Pick<BookAccess, 'connection' | 'keys'>,
  sequence: number,
): Promise<Tally> {
  const counts = await connection.hmget(keys.counts, ...tallyNames.map((name) => `${sequence}:${name}`))
  const tally = emptyTally()
  tallyNames.forEach((name, index) => {
    tally[name] = Number(counts[index] ?? 0)
  })
  return tally
}
