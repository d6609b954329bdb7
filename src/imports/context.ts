import { dirname, join } from 'node:path'
import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { WatchedWork } from '../lib/watchdog.ts'
import type { Mirror, MirrorChunk, MirrorReader } from '../mirror/model.ts'
import type { Archive } from '../sources/archive.ts'
import type { Manifest } from '../sources/manifest.ts'
import { type Held, parseHeld } from './held.ts'
import type { ImportTurns } from './import-turns.ts'
import type { PlanRules } from './plan-chunk.ts'
import type { UnexpectedFailures } from './unexpected-failures.ts'

/** What imports of one kind of feeds remember beside the records. */
export interface ImportBook extends Pick<MirrorReader, 'applied' | 'isApplied' | 'held' | 'counts'> {
  /** Resolves when it is as durable as records are. */
  update(change: Omit<MirrorChunk, 'writes'>): Promise<void>
}

/** What every step of an import of one catalog is given, whatever its feeds hold. */
export interface ImportContext {
  catalog: CatalogConfig
  manifest: Manifest
  archive: Archive
  /** `state/<catalog>/reports`. */
  reportsDir: string
  book: ImportBook
  unexpectedFailures: UnexpectedFailures
  clock: Clock
  log: Log
  signal: AbortSignal
}

/** What imports of products need besides. */
export interface ProductParts {
  rules: PlanRules
  mirror: Mirror
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

/** What the feed holds, in accept order. */
export function readHeld({ book, feed }: Pick<StepContext, 'book' | 'feed'>): Held[] {
  return parseHeld(book.held().get(feed.name))
}
