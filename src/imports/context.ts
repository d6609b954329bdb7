import { dirname, join } from 'node:path'
import type { FieldRanks } from '../catalog/ranks.ts'
import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { WatchedWork } from '../lib/watchdog.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { WriterChunk } from '../outbox/write-chunk.ts'
import type { CatalogWriter } from '../outbox/writer.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { Archive } from '../sources/archive.ts'
import type { Manifest } from '../sources/manifest.ts'

import type { ImportTurns } from './import-turns.ts'
import type { Room } from './room.ts'
import type { Tally } from './tally.ts'
import type { UnexpectedFailures } from './unexpected-failures.ts'

/** What imports of one kind of feeds remember beside the records. */
export interface ImportBook {
  /** The last accept sequence that is wholly applied; `*`: of decisions about the catalog. */
  applied(scope: FeedName | '*'): Promise<number>
  /** JSON of what the feed holds. */
  held(feed: FeedName): Promise<string | null>
  /** Of an unfinished import. */
  tally(sequence: number): Promise<Tally>
  /** Resolves when it is as durable as records are. */
  update(change: Omit<WriterChunk, 'writes'>): Promise<void>
}

/** What every step of an import of one catalog is given, whatever its feeds hold. */
export interface ImportContext {
  catalog: CatalogConfig
  manifest: Manifest
  archive: Archive
  /** `state/<catalog>/reports`. */
  reportsDir: string
  book: ImportBook
  /** In Redis, for products; consents need none. */
  room: Pick<Room, 'wait'> | undefined
  unexpectedFailures: UnexpectedFailures
  clock: Clock
  log: Log
  signal: AbortSignal
}

/** What imports of products need besides. */
export interface ProductParts {
  ranks: FieldRanks
  /** Fields by which some feed finds products. */
  keyFields: readonly string[]
  writer: CatalogWriter
  /** For reads. */
  connection: RedisConnection
  keys: CatalogKeys
  /** Something may be due for delivery. */
  onOffered: () => void
}

export type ProductContext = ImportContext & ProductParts

/** `state/<catalog>/tmp`: what an import reads and cannot hold in memory. On the disk, as folders for temporary files need not be. */
export function spillDirOf({ reportsDir }: Pick<ImportContext, 'reportsDir'>): string {
  return join(dirname(reportsDir), 'tmp')
}

/** The same for one feed. */
export interface StepContext extends ImportContext {
  feed: FeedConfig
  work: WatchedWork
  turns: ImportTurns
}

/** The same for one feed of products. */
export type FeedContext = StepContext & ProductParts
