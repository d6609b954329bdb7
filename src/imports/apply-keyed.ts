import type { ProductPatch } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { IdTableBuilder } from '../records/id-table.ts'
import { rejectedRows } from '../records/rejected-rows.ts'
import { applyPass, type BatchOf } from './apply-pass.ts'
import { type ApplyOptions, planPatches } from './apply-records.ts'
import type { Applied } from './import-run.ts'
import { describeUnknownKey, soleProduct } from './key-matches.ts'
import { untilProductsApplied } from './products-applied.ts'
import type { ReadItem } from './read-feed-file.ts'

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
    const patches = [...byProduct].map(([productId, { item }]) => ({ ...item, productId }))
    return planPatches(options, { ...batch, patches }, stored)
  })
  for (const [productId, { issues, record }] of byProduct) {
    problems.add(issues)
    found.add(productId, record.record)
  }
  return { unresolved, again }
}
