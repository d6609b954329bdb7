import { join } from 'node:path'
import type { CatalogConfig } from '../config/model.ts'
import type { ConsentStore } from '../consents/store.ts'
import type { Archive } from '../sources/archive.ts'
import type { Manifest } from '../sources/manifest.ts'
import { applyConsentDecision } from './catalog-decisions.ts'
import type { ImportBook } from './context.ts'
import { consentBook, importConsents } from './import-consents.ts'
import { importFile } from './import-file.ts'
import { ImportRunner, type ImportRunnerOptions } from './import-runner.ts'
import { Importer, type ImporterOptions } from './importer.ts'
import { appliedStep } from './manifest-steps.ts'
import type { NoticePublisher } from './notice-publisher.ts'
import { UnexpectedFailures } from './unexpected-failures.ts'

export interface ConsentImportOptions
  extends Pick<ImportRunnerOptions, 'clock' | 'log' | 'onFatal'>,
    Pick<ImporterOptions, 'watchdog' | 'onImported'> {
  catalog: CatalogConfig
  /** `state/<catalog>`. */
  dir: string
  consents: ConsentStore
  manifest: Manifest
  archive: Archive
  notices: NoticePublisher
}

/** Imports of a catalog's consents, to be started: they are few, and stay in this thread. */
export function openConsentImports(options: ConsentImportOptions): {
  runner: ImportRunner
  book: ImportBook
} {
  const { catalog, dir, consents, manifest, archive, notices, clock, log, watchdog, onImported } = options
  const unexpectedFailures = new UnexpectedFailures(dir, 'unexpected-consent-failures.json')
  const book = consentBook(consents, manifest)
  const reportsDir = join(dir, 'reports')
  const context = { catalog, manifest, archive, reportsDir, unexpectedFailures, clock, log, book }
  const open = async () =>
    new Importer({
      ...{ context, watchdog, onImported, feeds: [...catalog.consents.feeds.values()] },
      importFile: (given, accept) => importFile({ ...given, consents }, accept, importConsents),
      // Nothing of consents is ever held.
      decideHeld: async ({ feed }, step) =>
        void (await book.update({ applied: appliedStep(feed.name, step) })),
      onCatalogDecision: async (line) => applyConsentDecision(consents, line),
      onCaughtUp: () => consents.caughtUp(),
    })
  const onNotice = (text: string | undefined) => notices.set('consent-imports', text)
  return { book, runner: new ImportRunner({ ...options, open, unexpectedFailures, onNotice }) }
}
