import type { ProductPatch } from '../catalog/model.ts'
import { foundValue } from '../catalog/show-value.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import type { FoundProducts, MirrorChunk, StoredProduct } from '../mirror/model.ts'
import type { IdTableBuilder } from '../records/id-table.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { rejectedRows } from '../records/transform-records.ts'
import type { AcceptLine } from '../sources/model.ts'
import { applyPass, type BatchOf, type PassOptions } from './apply-pass.ts'
import type { FeedContext } from './context.ts'
import { GatheredUpdates } from './gathered-updates.ts'
import type { Applied } from './import-run.ts'
import type { ImportTurn } from './import-turns.ts'
import type { KnownRecords } from './known-records.ts'
import { appliedUpTo, stepsAfter } from './manifest-steps.ts'
import type { ReadItem } from './open-feed-file.ts'
import { planChunk } from './plan-chunk.ts'

export interface ApplyOptions extends PassOptions<ProductPatch> {
  context: FeedContext
  accept: AcceptLine
  /** The feed has removals that wait for approval: naming a product takes it out of them. */
  hasHeld: boolean
  /** Takes what is applied; without it the products that are changed are noted instead. */
  known?: KnownRecords | undefined
}

export async function applyRecords(options: ApplyOptions): Promise<Applied> {
  const { mirror, clock } = options.context
  const { bytes } = options.file.source
  const updates = new GatheredUpdates(mirror, { clock, bytes })
  try {
    return await applyPass(options, {
      apply: (batch) => {
        const ids = batch.items.map(({ item }) => item.productId)
        return updates.add(ids, (stored) => planItems(options, batch, stored))
      },
    })
  } finally {
    await updates.end()
  }
}

/** What the patches of a batch change, each of another product. */
function planItems(
  { context, accept, hasHeld, known }: ApplyOptions,
  { items, progressJson, applied }: BatchOf<ProductPatch>,
  stored: ReadonlyMap<ProductId, StoredProduct>,
): MirrorChunk | undefined {
  const { feed, rules } = context
  const ids = items.map(({ item }) => item.productId)
  const steps = items.map(({ item: patch, record: { line } }) => ({ patch, line }))
  const plan = planChunk({ steps, stored, feed: feed.name, import: accept.sequence, ...rules })
  applied.unchanged += items.length - plan.writes.length
  applied.incomplete += plan.tally.incomplete
  applied.overridden.add(plan)
  for (const { record, issues, item } of known ? items : []) {
    const isForGood = issues.length === 0 && !item.later && !plan.incomplete.includes(item.productId)
    known?.remember(record.record, item.productId, isForGood)
  }
  const changesNothing = plan.writes.length === 0 && plan.origins.length === 0
  if (changesNothing && progressJson === undefined && !accept.resend && !hasHeld) return undefined
  return {
    writes: plan.writes,
    origins: plan.origins,
    counts: { claim: accept.claim, add: { ...plan.tally, incomplete: 0 } },
    ...(accept.resend ? { resend: ids } : {}),
    ...(hasHeld ? { heldIds: { feed: feed.name, remove: ids } } : {}),
    ...(known || !context.mirror.known().has(feed.name)
      ? {}
      : { changedSince: { feed: feed.name, ids: plan.writes.map(({ productId }) => productId) } }),
    ...(progressJson === undefined ? {} : { progress: { feed: feed.name, value: progressJson } }),
  }
}

interface KeyedOptions extends ApplyOptions {
  /** The field by which the records name products. */
  key: string
  /** Takes the ids of the products that were found. */
  found: IdTableBuilder
}

/** Its patch and its id have the value of the key: the product has to be found. */
type KeyedItem = ReadItem<ProductPatch>

/** No one product has the key: none (0) or several. */
interface Unresolved {
  item: KeyedItem
  matches: readonly string[]
}

/** Records that wait for their products stay in memory: above this number the file waits with them. */
const waitingMax = 2_000
const itemsPerStep = 128

/**
 * The second pass over a file whose records name products by another field. A record whose product is not known waits
 * for what other feeds were given before, and is rejected when that does not bring it.
 */
export async function applyKeyedRecords(options: KeyedOptions): Promise<Applied> {
  const waiting: KeyedItem[] = []
  const applied = await applyPass(options, {
    // They are counted with what becomes of the record.
    leavesWarnings: true,
    apply: async (batch) => {
      waiting.push(...(await applyFound(options, batch)).map(({ item }) => item))
    },
    settle: async (counts) => {
      if (waiting.length >= waitingMax) await settleWaiting(options, waiting, counts)
    },
  })
  await settleWaiting(options, waiting, applied)
  return applied
}

async function settleWaiting(options: KeyedOptions, waiting: KeyedItem[], applied: Applied): Promise<void> {
  if (waiting.length === 0) return
  const { context, key, problems, rejects, turn } = options
  await untilProductsApplied(context, turn)
  while (waiting.length > 0) {
    const items = waiting.splice(0, itemsPerStep)
    for (const { item, matches } of await applyFound(options, { items, progressJson: undefined, applied })) {
      const { record, id: value } = item
      const issues = [...item.issues, describeUnknownKey({ record, key, value, matches })]
      problems.add(issues)
      for (const row of rejectedRows(record, issues)) await rejects.write(row)
    }
    context.work.advance()
  }
}

/** Applies the records whose products are known; answers the others. One transaction, or more where records share a product. */
async function applyFound(options: KeyedOptions, batch: BatchOf<ProductPatch>): Promise<Unresolved[]> {
  const unresolved: Unresolved[] = []
  let items = batch.items
  let progressJson = batch.progressJson
  do {
    const step = await applyStep(options, { ...batch, items, progressJson })
    unresolved.push(...step.unresolved)
    items = step.again
    progressJson = undefined
  } while (items.length > 0)
  return unresolved
}

async function applyStep(
  options: KeyedOptions,
  { items, ...batch }: BatchOf<ProductPatch>,
): Promise<{ unresolved: Unresolved[]; again: KeyedItem[] }> {
  const { context, key, found, problems } = options
  const byProduct = new Map<ProductId, KeyedItem>()
  const [unresolved, again]: [Unresolved[], KeyedItem[]] = [[], []]
  const values = [...new Set(items.map(({ id }) => id))]
  await context.mirror.updateByKey({ field: key, values }, (stored, products) => {
    for (const item of items) {
      const matches = products.get(item.id) ?? []
      const productId = soleProduct(matches)
      if (productId === undefined) unresolved.push({ item, matches })
      else if (byProduct.has(productId)) again.push(item)
      else byProduct.set(productId, item)
    }
    const named = [...byProduct].map(([productId, item]) => ({ ...item, item: { ...item.item, productId } }))
    return planItems(options, { ...batch, items: named }, stored)
  })
  for (const [productId, { issues, record }] of byProduct) {
    problems.add(issues)
    found.add(productId, record.record)
  }
  return { unresolved, again }
}

const askAgainMs = 200

/**
 * Resolves when all that the other feeds of products were given up to now has been applied. A record whose product is
 * not known yet waits for it, so that a replay and a first load find what a day in their right order would have found.
 * Feeds that find products by a key bring none and are not waited for; so no two of them wait for each other.
 */
async function untilProductsApplied(context: FeedContext, turn: ImportTurn): Promise<void> {
  const { catalog, book, manifest, work, clock, signal } = context
  const until = manifest.nextSequence
  const isBehind = (scope: FeedName) => {
    const [next] = stepsAfter({ book, manifest, scope, after: appliedUpTo(book, manifest, scope) })
    return next !== undefined && next.sequence < until
  }
  const names = [...catalog.feeds.values()]
    .filter(({ kind, key }) => kind === 'products' && key === undefined)
    .map(({ name }) => name)
  if (!names.some(isBehind)) return
  using _ = work.wait()
  using __ = turn.rest()
  while (names.some(isBehind)) await clock.sleep(askAgainMs, signal)
}

/** Of the products that have the value of a key: the one that it names. Several share it: none. */
function soleProduct(matches: readonly ProductId[]): ProductId | undefined {
  return matches.length === 1 ? matches[0] : undefined
}

/** The patches whose key one product has, with its id. */
export function patchesOfKnown(patches: readonly ProductPatch[], products: FoundProducts): ProductPatch[] {
  return patches.flatMap((patch) => {
    const productId = soleProduct(products.get(patch.productId) ?? [])
    return productId === undefined ? [] : [{ ...patch, productId }]
  })
}

interface KeyFinding {
  record: Pick<ParsedRecord, 'record' | 'line'>
  key: string
  value: string
  /** Products that have the value: none, or the first two of several. */
  matches: readonly string[]
}

/** Why a record that names its product by a key is not applied. */
function describeUnknownKey({
  record: { record, line },
  key,
  value: content,
  matches,
}: KeyFinding): RecordIssue {
  const found = `${key}: found ${JSON.stringify(content)}`
  const value = foundValue(content)
  if (matches.length === 0) {
    const remedy = 'drop the record again when its product has been imported'
    const message = `${found}, which no product has, expected that of a known product; ${remedy}`
    return { record, line, field: key, code: 'unknown-key', message, value, remedy, severity: 'reject' }
  }
  const names = matches.map((id) => JSON.stringify(id)).join(' and ')
  const remedy = 'give each product its own and drop the record again'
  const message = `${found}, which several products have (${names}), expected that of one; ${remedy}`
  return { record, line, field: key, code: 'ambiguous-key', message, value, remedy, severity: 'reject' }
}
