import { join } from 'node:path'
import type { CatalogConfig } from '../config/model.ts'
import type { ConsentStore } from '../consents/store.ts'
import { applyConsentDecision } from './catalog-decisions.ts'
import type { ImportBook } from './context.ts'
import { factsOfBook, importConsents, readConsentBook } from './import-consents.ts'
import { importFile } from './import-file.ts'
import { ImportRunner } from './import-runner.ts'
import { Importer } from './importer.ts'
import { appliedStep } from './manifest-steps.ts'
import type { ProductRunnerOptions } from './product-imports.ts'
import { UnexpectedFailures } from './unexpected-failures.ts'

export interface ConsentImportOptions extends Omit<ProductRunnerOptions, 'catalog' | 'mirror'> {
  catalog: CatalogConfig
  consents: ConsentStore
}

/** Imports of a catalog's consents, to be started: they are few, and stay in this thread. */
export function openConsentImports(options: ConsentImportOptions) {
  const { catalog, dir, consents, manifest, archive, clock, log } = options
  const unexpectedFailures = new UnexpectedFailures(dir, 'unexpected-consent-failures.json')
  const book: ImportBook = {
    ...readConsentBook(consents, manifest),
    update: async (change) => consents.apply([], () => factsOfBook(consents, change)),
  }
  const reportsDir = join(dir, 'reports')
  const context = { catalog, manifest, archive, reportsDir, unexpectedFailures, clock, log, book }
  const open = async () =>
    new Importer({
      ...{ ...options, context, feeds: [...catalog.consents.feeds.values()] },
      importFile: (given, accept) => importFile({ ...given, consents }, accept, importConsents),
      // Nothing of consents is ever held.
      decideHeld: async ({ feed }, step) =>
        void (await book.update({ applied: appliedStep(feed.name, step) })),
      onCatalogDecision: async (line) => applyConsentDecision(consents, line),
      onCaughtUp: () => consents.caughtUp(),
    })
  return { book, runner: new ImportRunner({ ...options, open, unexpectedFailures }) }
}
