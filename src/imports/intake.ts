import type { CatalogConfig } from '../config/model.ts'
import type { ConsentStore } from '../consents/store.ts'
import type { FeedName } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Watchdog } from '../lib/watchdog.ts'
import type { Mirror } from '../mirror/reader.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { openArchive } from '../sources/archive.ts'
import { type Manifest, openManifest } from '../sources/manifest.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { AcceptLine } from '../sources/model.ts'
import type { AcceptPushed } from '../sources/push-acceptor.ts'
import { openSources } from '../sources/sources.ts'
import { ArchiveQueue } from './archive-queue.ts'
import type { ConsentImportOptions } from './consent-imports.ts'
import type { ImportRunner } from './import-runner.ts'
import { NoticePublisher } from './notice-publisher.ts'
import type { ProductRunnerOptions } from './product-imports.ts'
import { describeTrouble, type ImportReport, logImport } from './report.ts'
import { Retention } from './retention.ts'

export interface IntakeOptions {
  catalog: CatalogConfig
  /** `state/<catalog>`. */
  dir: string
  connections: RedisConnections
  /** Opens the catalog's mirror for writing; asked once, with what the manifest says. */
  openMirror: (manifest: ManifestView) => Promise<OpenMirror>
  /** Comes before the mirror is closed, which is to learn what was sent. */
  endDelivery: () => Promise<void>
  /** Asked after the mirror, whose refusals are to come before anything is sent. Undefined: the catalog has none. */
  openConsents?: () => Promise<ConsentStore | undefined>
  /** `false`: only what commands hand in is accepted; the drop folders are left alone. */
  watchesDropFolders: boolean
  keepMs: number
  /** `false`: files are accepted, but another process imports them. */
  imports: boolean
  clock: Clock
  log: Log
  watchdog: Watchdog
  /** Told of what is done; nothing depends on it. */
  meter?: ImportMeter | undefined
  onFatal: (error: unknown) => void
}

export interface ImportMeter {
  applying(accept: AcceptLine): void
  imported(report: ImportReport, accept: AcceptLine): void
}

export interface OpenMirror extends AsyncDisposable {
  mirror: Mirror
  /** Who imports the catalog's products into it. Changes of products are its alone. */
  openProducts: (options: ProductOptions) => Products
}

type ProductOptions = Omit<ProductRunnerOptions, 'mirror' | 'watchdog' | 'manifest'> & { manifest: Manifest }

type Runner = AsyncDisposable & Pick<ImportRunner, 'start' | 'wake'>

interface Products extends Runner, Pick<ImportRunner, 'makeWay'> {
  /** `forgetProducts`, as long as it runs. */
  forget(nowMs: number): Promise<void>
}

export interface Intake extends AsyncDisposable {
  manifest: ManifestView
  mirror: Mirror
  acceptPushed: AcceptPushed
}

/**
 * Everything of one catalog that only the holder of the state lock does: accepting files and decisions, importing them,
 * archiving. Disposing it stops accepting first, then importing, then delivering.
 */
export async function openIntake(options: IntakeOptions): Promise<Intake> {
  const { catalog, dir, connections, clock, log, meter } = options
  await using stack = new AsyncDisposableStack()
  const manifest = stack.use(await openManifest({ dir, clock, log, onForeign: options.onFatal }))
  const { mirror, openProducts } = stack.use(await options.openMirror(manifest))
  stack.defer(options.endDelivery)
  const consents = await options.openConsents?.()
  const archive = await openArchive({ dir, manifest })
  const notices = stack.use(new NoticePublisher({ mirror, clock }))
  notices.set('stranded', describeStranded(manifest, catalog))
  const archiving = stack.use(new ArchiveQueue({ archive, manifest, clock, log }))
  const onImported = (report: ImportReport, accept: AcceptLine) => {
    logImport(log, report)
    meter?.imported(report, accept)
    const { outcome, removals, feed } = report
    // Of a file that is held whole nothing is applied: what is wrong with those before it stays.
    if (outcome !== 'held' || removals)
      notices.set(`failed:${feed}`, describeTrouble(report, catalog.feeds.get(feed)))
    archiving.add(accept)
  }
  const onApplying = (accept: AcceptLine) => meter?.applying(accept)
  const common = { ...options, manifest, archive, onApplying, onImported }
  const products = openProducts({ ...common, onNotice: (text) => notices.set('imports', text) })
  const onNotice = (text: string | undefined) => notices.set('consent-imports', text)
  const ofConsents = consents && (await openConsents({ ...common, consents, onNotice }))
  // Each kind has its own store, and its own progress through the manifest.
  const runners = ofConsents ? [products, ofConsents.runner] : [products]
  const books = ofConsents ? [mirror, ofConsents.book] : [mirror]
  const forget = (nowMs: number) => products.forget(nowMs)
  const retention = stack.use(new Retention({ ...options, manifest, mirror, books, forget }))
  if (options.imports) {
    for (const runner of runners) {
      runner.start()
      stack.use(runner)
    }
    archiving.start()
    retention.start()
  }
  const wake = () => {
    for (const runner of runners) runner.wake()
  }
  const sources = await openSources({
    catalog,
    dir,
    manifest,
    clock,
    log,
    watchesDropFolders: options.watchesDropFolders,
    connections,
    onAccepted: wake,
    onAccepting: () => products.makeWay(),
    onDecision: wake,
    onNotice: (key, text) => notices.set(key, text),
  })
  stack.use(sources)
  const { acceptPushed } = sources
  const opened = stack.move()
  return { manifest, mirror, acceptPushed, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** Nobody imports a file whose feed was renamed or taken away before its import had ended. */
function describeStranded(manifest: ManifestView, { feeds, consents }: CatalogConfig): string | undefined {
  const isConfigured = (feed: FeedName) => feeds.has(feed) || consents.feeds.has(feed)
  const [first, ...others] = [...manifest.unfinished()].filter(({ feed }) => !isConfigured(feed))
  if (!first) return undefined
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `not imported to the end: import ${first.sequence} (${first.name}) of feed ${first.feed}, which is not configured any more${more}; configure it again under that name until they are`
}

/** Who has no consents needs nothing of what reads them. */
async function openConsents(options: ConsentImportOptions) {
  const { openConsentImports } = await import('./consent-imports.ts')
  return openConsentImports(options)
}
