import { hash } from 'node:crypto'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { keyValues } from '../catalog/feed-key.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { ProductId } from '../lib/brand.ts'
import { readVersion } from '../lib/version.ts'
import type { WatchedWork } from '../lib/watchdog.ts'
import type { KeyEntry, StoredProduct } from '../mirror/model.ts'
import type { Mirror } from '../mirror/reader.ts'
import { applyCatalogDecision } from './catalog-decisions.ts'
import type { FeedsConfig, ImportBook, ProductContext, ProductParts } from './context.ts'
import { decideHeld } from './decide-held.ts'
import { importFile } from './import-file.ts'
import { importProducts } from './import-products.ts'
import { ImportRunner, type ImportRunnerOptions } from './import-runner.ts'
import { Importer, type ImporterOptions } from './importer.ts'
import { readKnown } from './known-index.ts'
import { productPages } from './known-products.ts'
import { planDue, planRulesOf } from './plan-chunk.ts'
import { UnexpectedFailures } from './unexpected-failures.ts'

export interface ProductRunnerOptions
  extends Omit<ImportRunnerOptions, 'open' | 'unexpectedFailures'>,
    Pick<ImporterOptions, 'watchdog' | 'onImported'>,
    Pick<ImporterOptions['context'], 'manifest' | 'archive' | 'onApplying'> {
  catalog: FeedsConfig
  /** `state/<catalog>`. */
  dir: string
  mirror: Mirror
}

/** Imports of a catalog's products into its mirror, to be started. */
export function openProductRunner(options: ProductRunnerOptions): ImportRunner {
  const unexpectedFailures = new UnexpectedFailures(options.dir)
  const open = (signal: AbortSignal) => openImporter({ ...options, unexpectedFailures }, signal)
  return new ImportRunner({ ...options, unexpectedFailures, open })
}

/** Once products can be found by the keys of the feeds. */
async function openImporter(
  options: ProductRunnerOptions & { unexpectedFailures: UnexpectedFailures },
  signal: AbortSignal,
): Promise<Importer> {
  const { catalog, dir, manifest, archive, mirror, unexpectedFailures, clock, log, onApplying } = options
  const rulesDigest = digestOf(catalog)
  const book = mirrorBook(mirror)
  const parts: ProductParts = { rules: planRulesOf(catalog), rulesDigest, mirror }
  await prepareKeyIndexes({ ...options, ...parts, signal })
  for (const feed of mirror.known().keys()) {
    if (readKnown(mirror, feed)?.rules !== rulesDigest)
      await book.update({ known: { feed, value: undefined } })
  }
  return new Importer({
    ...options,
    feeds: [...catalog.feeds.values()].filter(({ kind }) => kind === 'products'),
    context: {
      ...{ catalog, manifest, archive, unexpectedFailures, clock, log, onApplying },
      ...{ reportsDir: join(dir, 'reports'), book },
    },
    importFile: (context, accept) => importFile({ ...context, ...parts }, accept, importProducts),
    decideHeld: (context, step) => decideHeld({ ...context, ...parts }, step),
    runAnnounced: (context, work) => runAnnounced({ ...context, ...parts }, work),
    onCatalogDecision: (line, until) => applyCatalogDecision(mirror, line, until),
    onCaughtUp: () => undefined,
  })
}

/** Whatever may decide what a record of any feed changes: another version, or another feed, may read it otherwise. */
function digestOf({ feeds, urgent }: FeedsConfig): string {
  const options = { depth: null, maxArrayLength: null, maxStringLength: null }
  return hash('sha256', inspect([readVersion(), feeds, urgent], options))
}

function mirrorBook(mirror: Mirror): ImportBook {
  return {
    applied: (scope) => mirror.applied(scope),
    isApplied: (key) => mirror.isApplied(key),
    held: () => mirror.held(),
    counts: (claim) => mirror.counts(claim),
    update: (change) => mirror.update([], () => ({ ...change, writes: [] })),
  }
}

/** Upper bound of how late a change is applied that was announced after the last look. */
const lookEveryMs = 1_000
const idsPerStep = 500

/**
 * Applies what feeds have announced (the end of a sale, say) when its time has come, until the context's signal ends
 * it. What fell due while no process ran is applied at once. Safe to repeat: what is applied is no longer announced.
 */
export async function runAnnounced(context: ProductContext, work: WatchedWork): Promise<void> {
  const { mirror, clock, signal } = context
  while (!signal.aborted) {
    const next = mirror.nextSwitch()
    const waitMs = next === undefined ? lookEveryMs : next - clock.now()
    if (waitMs > 0) {
      work.rest()
      await clock.sleep(Math.min(waitMs, lookEveryMs), signal).catch(() => undefined)
      continue
    }
    work.advance()
    await applyAnnounced(context)
  }
}

async function applyAnnounced({ mirror, clock, rules, catalog, log }: ProductContext): Promise<void> {
  const nowMs = clock.now()
  let changed = 0
  await mirror.update(mirror.switchesDue(nowMs, idsPerStep), (stored) => {
    const { writes, changes, switches } = planDue({ stored, nowMs, ...rules })
    changed = changes.length
    // Noted for each of them, changed or not: one that waits for nothing would be looked at for ever, and one that a
    // record has moved since the ids were read still waits.
    return { writes, switches }
  })
  if (changed > 0)
    log.info({ catalog: catalog.name, products: changed }, 'announced changes hold from now on')
}

type KeyContext = Pick<ProductContext, 'mirror' | 'rules' | 'log' | 'catalog' | 'signal'>

/**
 * Makes the indexes by which feeds find products fit the configuration: those that no feed asks for are removed, since
 * nobody keeps them, and new ones are filled from the products that are there. To be done before anything is imported.
 * Safe to repeat: an index counts as complete once the last product is in it.
 */
async function prepareKeyIndexes(context: KeyContext): Promise<void> {
  const { mirror, rules, log, catalog, signal } = context
  const complete = mirror.keyFields()
  const fresh = rules.keyFields.filter((field) => !complete.includes(field))
  const stale = complete.filter((field) => !rules.keyFields.includes(field))
  if (fresh.length + stale.length === 0) return
  await mirror.update([], () => ({ writes: [], keyFields: { drop: [...stale, ...fresh] } }))
  if (fresh.length === 0) return
  let products = 0
  for await (const page of productPages(mirror, signal)) {
    products += page.length
    const ids = page.map(({ productId }) => productId)
    await mirror.update(ids, (stored) => ({ writes: [], addKeys: entriesOf(stored, fresh) }))
  }
  await mirror.update([], () => ({ writes: [], keyFields: { complete: fresh } }))
  if (products > 0)
    log.info({ catalog: catalog.name, keys: fresh, products }, 'products can be found by keys')
}

function entriesOf(stored: ReadonlyMap<ProductId, StoredProduct>, keyFields: readonly string[]): KeyEntry[] {
  return [...stored].flatMap(([productId, { meta, document, partial }]) => {
    if (meta === undefined) return []
    const { fields } = decodeState({ meta, document, partial })
    return keyFields.flatMap((field) =>
      keyValues(fields, field).map((value) => ({ field, value, productId })),
    )
  })
}
