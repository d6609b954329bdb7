import type { ProductPatch } from '../catalog/model.ts'
import type { IdTableBuilder } from '../records/id-table.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { originalRows } from '../records/original-rows.ts'
import { type Applied, applyPass, type BatchOf } from './apply-pass.ts'
import { type ApplyOptions, planPatches } from './apply-records.ts'
import { describeUnknownKey } from './describe-key.ts'
import { untilProductsApplied } from './products-applied.ts'

interface KeyedOptions extends ApplyOptions {
  /** The field by which the records name products. */
  key: string
  /** Takes the ids of the products that were found. */
  found: IdTableBuilder
}

/** A record whose product has to be found; its patch has the value of the key for an id. */
interface KeyedItem {
  patch: ProductPatch
  record: ParsedRecord
  issues: readonly RecordIssue[]
}

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
  const applied = await applyPass<KeyedItem>(options, {
    map: (record) => {
      const { patch, issues } = options.mapping.map(record, options.context.clock.now())
      if (!patch) return { id: undefined, item: undefined, issues }
      // Its issues are counted with what becomes of it.
      return { id: patch.productId, item: { patch, record, issues }, issues: [] }
    },
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
      const { record, patch } = item
      const issues = [...item.issues, describeUnknownKey({ record, key, value: patch.productId, matches })]
      problems.add(issues)
      for (const row of originalRows(record)) await rejects.write({ ...row, issues, culprit: record.record })
    }
    context.work.advance()
  }
}

/** Applies the records whose products are known; answers the others. One transaction, or more where records share a product. */
async function applyFound(options: KeyedOptions, batch: BatchOf<KeyedItem>): Promise<Unresolved[]> {
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
  { items, ...batch }: BatchOf<KeyedItem>,
): Promise<{ unresolved: Unresolved[]; again: KeyedItem[] }> {
  const { context, key, found, problems } = options
  const byProduct = new Map<string, { item: KeyedItem; patch: ProductPatch }>()
  const [unresolved, again]: [Unresolved[], KeyedItem[]] = [[], []]
  const values = [...new Set(items.map(({ patch }) => patch.productId))]
  await context.mirror.updateByKey({ field: key, values }, (stored, products) => {
    for (const item of items) {
      const [productId, ...others] = products.get(item.patch.productId) ?? []
      if (productId === undefined || others.length > 0) {
        unresolved.push({ item, matches: productId === undefined ? [] : [productId, ...others] })
      } else if (byProduct.has(productId)) again.push(item)
      else byProduct.set(productId, { item, patch: { ...item.patch, productId } })
    }
    const patches = [...byProduct.values()].map(({ patch }) => patch)
    return planPatches(options, { ...batch, items: patches }, stored)
  })
  for (const { item, patch } of byProduct.values()) {
    problems.add(item.issues)
    found.add(patch.productId, item.record.record)
  }
  return { unresolved, again }
}
