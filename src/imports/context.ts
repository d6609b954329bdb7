import { dirname, join } from 'node:path'
import type { FieldRanks } from '../catalog/ranks.ts'
import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { ConsentIntake } from '../consents/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { WatchedWork } from '../lib/watchdog.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { CatalogWriter } from '../outbox/writer.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { Archive } from '../sources/archive.ts'
import type { Manifest } from '../sources/manifest.ts'

import type { ImportTurns } from './import-turns.ts'
import type { Room } from './room.ts'
import type { UnexpectedFailures } from './unexpected-failures.ts'

/** What every step of an import of one catalog is given. */
export interface ImportContext {
  catalog: CatalogConfig
  ranks: FieldRanks
  /** Fields by which some feed finds products. */
  keyFields: readonly string[]
  manifest: Manifest
  archive: Archive
  /** `state/<catalog>/reports`. */
  reportsDir: string
  writer: CatalogWriter
  /** For reads. */
  connection: RedisConnection
  keys: CatalogKeys
  /** In Redis, for products; what consents need is little, and a revocation does not wait for it. */
  room: Pick<Room, 'wait'> | undefined
  /** Present where the feeds hold consents; `keys` and `writer` are theirs then. */
  consents: ConsentIntake | undefined
  unexpectedFailures: UnexpectedFailures
  clock: Clock
  log: Log
  /** Something may be due for delivery. */
  onOffered: () => void
  signal: AbortSignal
}

/** `state/<catalog>/tmp`: what an import reads and cannot hold in memory. On the disk, as folders for temporary files need not be. */
export function spillDirOf({ reportsDir }: Pick<ImportContext, 'reportsDir'>): string {
  return join(dirname(reportsDir), 'tmp')
}

/** The same for one feed. */
export interface FeedContext extends ImportContext {
  feed: FeedConfig
  work: WatchedWork
  turns: ImportTurns
}
