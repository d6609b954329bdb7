import type { CatalogConfig } from '../config/model.ts'
import type { Log } from '../lib/log.ts'
import type { Mirror } from '../mirror/model.ts'
import { applyCatalogDecision } from './catalog-decisions.ts'
import type { ImportBook, ProductParts } from './context.ts'
import { decideHeld } from './decide-held.ts'
import { importFile } from './import-file.ts'
import { importProducts } from './import-products.ts'
import { Importer, type ImporterOptions } from './importer.ts'
import { prepareKeyIndexes } from './key-indexes.ts'
import { planRulesOf } from './plan-chunk.ts'
import { runAnnounced } from './run-announced.ts'

interface ProductImportOptions {
  catalog: CatalogConfig
  mirror: Mirror
  log: Log
}

type Shared = Pick<ImporterOptions, 'feeds' | 'watchdog' | 'onImported'> & {
  context: Omit<ImporterOptions['context'], 'book'>
}

/** An importer of a catalog's products into its mirror, once they can be found by the keys of its feeds. */
export async function openProductImports(
  options: ProductImportOptions,
  shared: Shared,
  signal: AbortSignal,
): Promise<Importer> {
  const { catalog, mirror } = options
  const parts: ProductParts = { rules: planRulesOf(catalog), mirror }
  await prepareKeyIndexes({ ...options, ...parts, signal })
  return new Importer({
    ...shared,
    context: { ...shared.context, book: mirrorBook(mirror) },
    importFile: (context, accept) => importFile({ ...context, ...parts }, accept, importProducts),
    decideHeld: (context, step) => decideHeld({ ...context, ...parts }, step),
    runAnnounced: (context, work) => runAnnounced({ ...context, ...parts }, work),
    onCatalogDecision: (line, until) => applyCatalogDecision(mirror, line, until),
    onCaughtUp: () => undefined,
  })
}

/** What imports of products remember stands in the mirror. */
function mirrorBook(mirror: Mirror): ImportBook {
  return {
    applied: (scope) => mirror.applied(scope),
    isApplied: (key) => mirror.isApplied(key),
    held: () => mirror.held(),
    counts: (claim) => mirror.counts(claim),
    update: (change) => mirror.update([], () => ({ ...change, writes: [] })),
  }
}
