import { join } from 'node:path'
import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import { makeFolder } from '../lib/durable.ts'
import type { Log } from '../lib/log.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { Acceptor } from './acceptor.ts'
import { DropAcceptor } from './drop-acceptor.ts'
import { GrowthWatch } from './growth.ts'
import { InboxWatcher } from './inbox-watcher.ts'
import { hiddenDirOf, layoutOf } from './layout.ts'
import type { Manifest } from './manifest.ts'
import type { AcceptLine, DecisionLine } from './model.ts'
import { NoticeBoard } from './notices.ts'
import { Pulls } from './pull/pulls.ts'
import { systemNetwork } from './pull/resolve-host.ts'
import { type AcceptPushed, PushAcceptor } from './push-acceptor.ts'
import { Upkeep } from './upkeep.ts'
import { FeedWatcher } from './watcher.ts'

export interface SourcesOptions {
  catalog: CatalogConfig
  /** `state/<catalog>`; the caller holds the state lock. */
  dir: string
  manifest: Manifest
  clock: Clock
  log: Log
  /** Lines that stand in the manifest since now; a hint to look there. */
  onAccepted: (accepted: AcceptLine[]) => void
  /** Settled files of a drop folder are about to be accepted. */
  onAccepting?: () => void
  onDecision: (decision: DecisionLine) => void
  /**
   * What the operator should know; undefined when it is over. Keys: `disk`, `drop:<feed>`, `unreadable:<feed>`,
   * `ignored:<feed>`, `watch:<feed>`, `waiting:<feed>`, `pull:<feed>`, `recovery`, `growth`; in place of a feed also `inbox`.
   */
  onNotice: (key: string, text: string | undefined) => void
  /** `false`: only the inbox is watched. Default: the drop folders too. */
  watchesDropFolders?: boolean
  /** For the schedules of feeds that are fetched; without them none is. */
  connections?: RedisConnections
  /** How often every folder is looked at, whatever events say. */
  rescanMs?: number
}

export interface Sources extends AsyncDisposable {
  acceptPushed: AcceptPushed
}

const rescanMsDefault = 30_000
const inboxRescanMs = 1_000
const growthQuietMsMin = 2_000

/**
 * Accepts files of all feeds of a catalog, and what commands put into the inbox, until it is disposed: then nothing more
 * is claimed, and what was claimed has its line. Completes first what an earlier process left.
 */
export async function openSources(options: SourcesOptions): Promise<Sources> {
  const { catalog, dir, manifest, clock, log, rescanMs = rescanMsDefault, onAccepted, onDecision } = options
  const { archiveDir, inboxDir, failedDir } = layoutOf(dir)
  for (const folder of [archiveDir, inboxDir, failedDir]) await makeFolder(folder)
  const notices = new NoticeBoard(options)
  const feeds = options.watchesDropFolders === false ? [] : [...catalog.feeds.values()]
  const watched = feeds.filter(({ dropDir }) => dropDir !== '')
  const acceptor = new Acceptor({ dir, manifest, clock })
  const dropAcceptor = new DropAcceptor({ acceptor, catalog: catalog.name, clock })
  const growth = new GrowthWatch({ acceptor, clock, quietMs: growthQuietMs(feeds) })
  const shared = {
    acceptor,
    growth,
    clock,
    notices,
    log,
    rescanMs,
    onAccepted,
    onAccepting: options.onAccepting,
  }
  const opened = new AsyncDisposableStack()
  const hiddenDirs = new Set(watched.map(({ dropDir }) => hiddenDirOf(dropDir, catalog.name)))
  const upkeep = opened.use(new Upkeep({ ...shared, hiddenDirs: [...hiddenDirs] }))
  await upkeep.start()
  const inbox = { inboxDir, failedDir: join(failedDir, 'inbox'), rescanMs: Math.min(rescanMs, inboxRescanMs) }
  opened.use(new InboxWatcher({ ...shared, ...inbox, upkeep, onDecision }))
  for (const feed of watched) {
    opened.use(new FeedWatcher({ ...shared, upkeep, dropAcceptor, feed, feeds: watched }))
  }
  if (options.connections && options.watchesDropFolders !== false) {
    const { connections } = options
    const places = { catalog: catalog.name, dir, connections, network: systemNetwork }
    opened.use(new Pulls({ ...shared, ...places, upkeep, feeds }))
  }
  const pushes = opened.use(new PushAcceptor({ acceptor, upkeep, log, onAccepted }))
  return { acceptPushed: pushes.accept, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

function growthQuietMs(feeds: readonly FeedConfig[]): number {
  const settleTimes = feeds.map(({ settle }) => (settle.kind === 'quiet' ? settle.forMs : 0))
  return Math.max(growthQuietMsMin, ...settleTimes)
}
