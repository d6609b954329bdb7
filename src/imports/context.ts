import { dirname, join } from 'node:path'
import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { ConsentIntake } from '../consents/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { WatchedWork } from '../lib/watchdog.ts'
import type { Mirror } from '../mirror/model.ts'
import type { Archive } from '../sources/archive.ts'
import type { Manifest } from '../sources/manifest.ts'
import { type Held, parseHeld } from './held.ts'
import type { ImportTurns } from './import-turns.ts'
import type { PlanRules } from './plan-chunk.ts'
import type { UnexpectedFailures } from './unexpected-failures.ts'

/** What every step of an import of one catalog is given. */
export interface ImportContext {
  catalog: CatalogConfig
  rules: PlanRules
  mirror: Mirror
  /** Present where the feeds hold consents. */
  consents: ConsentIntake | undefined
  manifest: Manifest
  archive: Archive
  /** `state/<catalog>/reports`. */
  reportsDir: string
  unexpectedFailures: UnexpectedFailures
  clock: Clock
  log: Log
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

/** What the feed holds, in accept order. */
export function readHeld({ mirror, feed }: Pick<FeedContext, 'mirror' | 'feed'>): Held[] {
  return parseHeld(mirror.held().get(feed.name))
}
