import type { FeedConfig, PullConfig, UrlSource } from '../../../src/config/model.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { makeFolder } from '../../../src/lib/durable.ts'
import { Acceptor } from '../../../src/sources/acceptor.ts'
import { openArchive } from '../../../src/sources/archive.ts'
import { GrowthWatch } from '../../../src/sources/growth.ts'
import { layoutOf } from '../../../src/sources/layout.ts'
import { openManifest } from '../../../src/sources/manifest.ts'
import { NoticeBoard } from '../../../src/sources/notices.ts'
import { Puller } from '../../../src/sources/pull/puller.ts'
import { type Network, systemNetwork } from '../../../src/sources/pull/resolve-host.ts'
import { Upkeep } from '../../../src/sources/upkeep.ts'
import { collectLog } from '../../support/log-lines.ts'
import { feedNamed } from './setup.ts'

export function given<T>(value: T) {
  return { available: true, value: () => value }
}

export function urlPull(
  url: string,
  changes: Partial<UrlSource> = {},
  limits: Partial<PullConfig> = {},
): PullConfig {
  const source: UrlSource = {
    kind: 'url',
    url: given(new URL(url)),
    headers: [],
    credentials: undefined,
    allowPrivate: true,
    network: {},
    name: undefined,
    ...changes,
  }
  return pullOf(source, limits)
}

export function pullOf(source: PullConfig['source'], limits: Partial<PullConfig> = {}): PullConfig {
  return {
    schedule: { kind: 'every', everyMs: 3_600_000 },
    source,
    bytesMax: 1_000_000,
    silenceMs: 10_000,
    totalMs: 30_000,
    ...limits,
  }
}

interface SiteOptions {
  /** `state/<catalog>`. */
  dir: string
  pull: PullConfig
  feed?: Partial<FeedConfig>
  network?: Network
}

/** One pulled feed over a state folder, without schedules: each `fetch` is one run. */
export async function openPullSite({ dir, pull, feed: changes = {}, network = systemNetwork }: SiteOptions) {
  const stack = new AsyncDisposableStack()
  const { log, lines } = collectLog()
  const clock = systemClock
  const manifest = stack.use(await openManifest({ dir, clock }))
  await makeFolder(layoutOf(dir).archiveDir)
  const acceptor = new Acceptor({ dir, manifest, clock })
  const notices = new Map<string, string>()
  const board = new NoticeBoard({
    log,
    onNotice: (key, text) => (text === undefined ? notices.delete(key) : notices.set(key, text)),
  })
  const growth = new GrowthWatch({ acceptor, clock, quietMs: 1000 })
  const shared = { acceptor, growth, clock, notices: board, log, onAccepted: () => {} }
  const upkeep = stack.use(new Upkeep({ ...shared, hiddenDirs: [], rescanMs: 60_000 }))
  await upkeep.start()
  const closing = new AbortController()
  const feed = feedNamed('products', '', { files: [{ pattern: '*', mode: 'full' }], ...changes })
  const puller = new Puller({ ...shared, feed, pull, dir, upkeep, closing: closing.signal, network })
  const archive = await openArchive({ dir, manifest })
  return {
    manifest,
    acceptor,
    puller,
    notices,
    lines,
    closing,
    fetch: () => puller.run(),
    /** What failed, or undefined. */
    trouble: () => notices.get('pull:products'),
    accepted: () => [...manifest.files()],
    archivedPaths: () => [...manifest.files()].map((accept) => archive.pathOf(accept)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
