import { join } from 'node:path'
import type { CatalogConfig } from '../config/model.ts'
import type { ConsentStore } from '../consents/store.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { ReleaseStack } from '../lib/release-stack.ts'
import type { Watchdog } from '../lib/watchdog.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { DeliveryOutbox } from '../outbox/model.ts'
import type { OutboxScripts } from '../outbox/scripts.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { type Archive, openArchive } from '../sources/archive.ts'
import { type Manifest, openManifest } from '../sources/manifest.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { AcceptLine, DecisionLine } from '../sources/model.ts'
import type { AcceptPushed } from '../sources/push-acceptor.ts'
import { openSources } from '../sources/sources.ts'
import { ArchiveQueue } from './archive-queue.ts'
import { applyCatalogDecision, applyConsentDecision } from './catalog-decisions.ts'
import { consentBook } from './consent-book.ts'
import { describeTrouble, logImport } from './describe-import.ts'
import { importConsents } from './import-consents.ts'
import { importFile } from './import-file.ts'
import { ImportRunner, type OpenedImports } from './import-runner.ts'
import { Importer } from './importer.ts'
import { NoticePublisher } from './notice-publisher.ts'
import { openProductImports } from './product-imports.ts'
import type { ImportReport } from './report.ts'
import { readStateId } from './state-id.ts'
import { UnexpectedFailures } from './unexpected-failures.ts'

export interface IntakeOptions {
  catalog: CatalogConfig
  /** `state/<catalog>`. */
  dir: string
  connections: RedisConnections
  keys: CatalogKeys
  scripts: OutboxScripts
  outbox: DeliveryOutbox
  /** Absent: the catalog has none. */
  consents?: ConsentStore | undefined
  /** `false`: only what commands hand in is accepted; the drop folders are left alone. */
  watchesDropFolders: boolean
  /** `false`: files are accepted, but another process imports them. */
  imports: boolean
  clock: Clock
  log: Log
  watchdog: Watchdog
  onOffered: () => void
  onFatal: (error: unknown) => void
}

/** What others may ask of it. */
export interface Intake extends AsyncDisposable {
  manifest: ManifestView
  acceptPushed: AcceptPushed
}

/**
 * Everything of one catalog that only the holder of the state lock does: accepting files and decisions, importing them,
 * archiving. Disposing it stops accepting first, then importing.
 */
export async function openIntake(options: IntakeOptions): Promise<Intake> {
  const { catalog, dir, connections, keys, clock, log } = options
  const stack = new ReleaseStack()
  try {
    const manifest = stack.use(
      'manifest',
      await openManifest({ dir, clock, log, onForeign: options.onFatal }),
    )
    const archive = await openArchive({ dir, manifest })
    const notices = stack.use(
      'notices',
      new NoticePublisher({ connection: connections.commands, keys, clock }),
    )
    await notices.begin().catch(() => undefined)
    const archiving = stack.use('archiving', new ArchiveQueue({ archive, manifest, clock, log }))
    const runners = openRunners(options, {
      manifest,
      archive,
      notices,
      archiving,
      stateId: await readStateId(dir),
    })
    if (options.imports) {
      for (const runner of runners) {
        runner.start()
        stack.use('imports', runner)
      }
      archiving.start()
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
      onDecision: wake,
      onNotice: (key, text) => notices.set(key, text),
    })
    stack.use('sources', sources)
    const { acceptPushed } = sources
    return { manifest, acceptPushed, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
  } catch (error) {
    await stack[Symbol.asyncDispose]()
    throw error
  }
}

interface Shared {
  manifest: Manifest
  archive: Archive
  notices: NoticePublisher
  archiving: ArchiveQueue
  stateId: string
}

/** Products and consents are imported side by side: each kind has its own store, and its own progress through the manifest. */
function openRunners(options: IntakeOptions, shared: Shared): ImportRunner[] {
  const { catalog, dir, connections, consents, clock, log, watchdog, onFatal } = options
  const { manifest, archive, notices, archiving, stateId } = shared
  const unexpectedFailures = new UnexpectedFailures(dir)
  const reportsDir = join(dir, 'reports')
  const common = {
    context: { catalog, manifest, archive, reportsDir, unexpectedFailures, clock, log },
    watchdog,
    onImported: (report: ImportReport, accept: AcceptLine) => {
      logImport(log, report)
      notices.set(`failed:${report.feed}`, describeTrouble(report, catalog.feeds.get(report.feed)))
      archiving.add(accept)
    },
  }
  const explain = (error: unknown) => connections.explain(error)
  const running = { explain, unexpectedFailures, clock, log, onFatal }
  const onNotice = (text: string | undefined) => notices.set('imports', text)
  const ofProducts = {
    ...common,
    feeds: [...catalog.feeds.values()].filter(({ kind }) => kind === 'products'),
    onCatalogDecision: (line: DecisionLine) =>
      applyCatalogDecision({ ...options, connection: connections.commands }, line),
  }
  const open = (signal: AbortSignal) =>
    openProductImports({ ...options, stateId, onNotice }, ofProducts, signal)
  const products = new ImportRunner({ ...running, open, onNotice })
  if (!consents) return [products]
  const openConsents = async (): Promise<OpenedImports> => ({
    importer: new Importer({
      ...common,
      context: { ...common.context, book: consentBook(consents), room: undefined },
      feeds: [...catalog.consents.feeds.values()],
      importFile: (context, accept) => importFile({ ...context, consents }, accept, importConsents),
      // Nothing of consents is ever held.
      decideHeld: async ({ book, feed }, { sequence }) =>
        void (await book.update({ applied: { scope: feed.name, sequence } })),
      onCatalogDecision: (line) => applyConsentDecision(consents, line),
      onCaughtUp: () => consents.caughtUp(),
    }),
    [Symbol.asyncDispose]: async () => undefined,
  })
  const onConsentNotice = (text: string | undefined) => notices.set('consent-imports', text)
  return [products, new ImportRunner({ ...running, open: openConsents, onNotice: onConsentNotice })]
}
