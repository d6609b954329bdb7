import type { ProductField } from '../api/contract/product.ts'
import { diffDocuments } from '../catalog/diff.ts'
import { applyDue, encodeLater } from '../catalog/later.ts'
import { mergePatch } from '../catalog/merge.ts'
import type { Change, ProductPatch, ProductState } from '../catalog/model.ts'
import { composeDocument, decodeState } from '../catalog/stored-form.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import type { StoredProduct } from '../mirror/model.ts'
import type { Judgement } from '../records/judge.ts'
import { reasonColumn } from '../records/model.ts'
import type { AcceptLine } from '../sources/model.ts'
import { absentProducts } from './absent-products.ts'
import { applyPass } from './apply-pass.ts'
import { type ApplyOptions, patchesOfKnown } from './apply-records.ts'
import { percent } from './context.ts'
import { knownProducts } from './known-products.ts'
import { type PlanRules, planChunk } from './plan-chunk.ts'
import { ImportProgress } from './progress.ts'
import { ProblemCollector } from './report.ts'
import { emptyTally, type Tally } from './tally.ts'

/** With fewer products a share says nothing. */
const knownMin = 20
const lanes = ['urgent', 'new', 'deferred'] as const

/** Whether the file says of all products of the feed what there is, so that one it does not name is missing. */
export function isWholeFeed(
  { mode }: Pick<AcceptLine, 'mode'>,
  { columns }: Pick<Judgement, 'columns'>,
): boolean {
  return mode === 'full' && !columns.includes(reasonColumn)
}

/** Why nothing of a file may be applied before the operator says so; undefined: it may be. Changes nothing. */
export async function reasonToHoldFile(options: ApplyOptions): Promise<string | undefined> {
  return (await reasonOfIds(options)) ?? (await reasonOfColumns(options)) ?? (await reasonOfChanges(options))
}

/** How many products are looked at to tell which fields the feed has given before. */
const sampleMax = 1_000

/**
 * Most likely the field has another name now. A field that few products had, such as the price before a sale, may well be
 * in no record any more.
 */
async function reasonOfColumns({ context, accept, file }: ApplyOptions): Promise<string | undefined> {
  const { judgement, absentColumns } = file
  if (absentColumns.length === 0 || !isWholeFeed(accept, judgement)) return undefined
  const states = await readSample(context)
  if (states.length < knownMin) return undefined
  for (const { column, field } of absentColumns) {
    const count = states.filter((state) => gaveField(state, context.feed.name, field as ProductField)).length
    if (count * 2 > states.length)
      return `no record has "${column}" (for ${field}), and ${count} of ${states.length} products have it from the files before`
  }
  return undefined
}

function gaveField({ fields, writers }: ProductState, feed: FeedName, field: ProductField): boolean {
  return fields[field] !== undefined && writers[field] === feed
}

/** Of the feed's products. */
async function readSample(context: ApplyOptions['context']): Promise<ProductState[]> {
  const states: ProductState[] = []
  for await (const known of knownProducts(context)) {
    for (const { meta = '', document, partial } of context.mirror.read(known).values())
      states.push(decodeState({ meta, document, partial }))
    if (states.length >= sampleMax) break
  }
  return states
}

/** Another column was exported for the id, as a rule. Where missing products are ignored a file may well hold new ones only. */
async function reasonOfIds({ context, accept, file, known }: ApplyOptions): Promise<string | undefined> {
  const { judgement } = file
  const { ids } = judgement
  const isIgnored = context.feed.missing.action === 'ignore'
  if (!isWholeFeed(accept, judgement) || isIgnored || ids.size === 0) return undefined
  // Each is one of a product that the feed named before.
  if (known && known.skipped > 0) return undefined
  const absentOf = absentProducts(context, { ids })
  let products = 0
  for await (const known of knownProducts(context)) {
    if (absentOf(known).length < known.length) return undefined
    products += known.length
  }
  if (products < 2) return undefined
  return `none of the ${products} products that the feed named before is in the file: all ids are others`
}

async function reasonOfChanges(options: ApplyOptions): Promise<string | undefined> {
  const { context } = options
  const atMost = context.feed.changes?.atMost
  if (atMost === undefined) return undefined
  const counts = await countChanges(options)
  // A file that changes little is known to do so after some products; only a suspicious one has all of them counted.
  const enough = Math.max(
    ...lanes.map((lane) => (counts[lane] === 0 ? 0 : counts[lane] / (atMost[lane] ?? 1))),
  )
  let products = 0
  if (enough > 0) {
    for await (const known of knownProducts(context)) {
      products += known.length
      if (products >= enough) return undefined
    }
  }
  return describeChanges({ counts, atMost, products })
}

interface Counted {
  counts: Tally
  atMost: Readonly<Partial<Record<(typeof lanes)[number], number>>>
  products: number
}

function describeChanges({ counts, atMost, products }: Counted): string | undefined {
  if (products < knownMin) return undefined
  const texts = lanes.flatMap((lane) => {
    const [limit, count] = [atMost[lane], counts[lane]]
    if (limit === undefined || count <= products * limit) return []
    const what =
      lane === 'new'
        ? `it brings ${count} new products, and the feed has ${products}`
        : `it changes ${count} of the feed's ${products} products (${lane})`
    return [`${what}, more than changes.atMost.${lane} (${percent(limit)})`]
  })
  return texts.length === 0 ? undefined : texts.join('; ')
}

/**
 * What applying a file would change in each lane, now and at the times that it announces; nothing is changed or
 * reported. A product counts once in a lane.
 */
async function countChanges(options: ApplyOptions): Promise<Tally> {
  const { context, accept, file } = options
  const { feed, rules, mirror, book, clock } = context
  const tally = emptyTally()
  const count = (patches: readonly ProductPatch[]) => {
    const stored = mirror.read(patches.map(({ productId }) => productId))
    const steps = patches.map((patch) => ({ patch }))
    const planning = { stored, feed: feed.name, ...rules }
    const changes = [...planChunk({ steps, ...planning }).changes, ...planAnnounced(patches, planning)]
    for (const lane of ['urgent', 'new', 'deferred'] as const) {
      const changed = changes.filter((change) => change.lane === lane).map(({ productId }) => productId)
      tally[lane] += new Set(changed).size
    }
  }
  const progress = new ImportProgress({ ...accept, bytes: file.source.bytes }, clock)
  progress.update({ phase: 'comparing' })
  const { key } = feed
  // A product that is not known changes nothing.
  const lookUp = (patches: readonly ProductPatch[], field: string) =>
    mirror.lookUp({ field, values: [...new Set(patches.map(({ productId }) => productId))] })
  await applyPass(
    { ...options, progress, problems: new ProblemCollector(), rejects: { write: async () => undefined } },
    {
      apply: async ({ items, progressJson: value }) => {
        const patches = items.map(({ item }) => item)
        count(key === undefined ? patches : patchesOfKnown(patches, lookUp(patches, key)))
        if (value !== undefined) await book.update({ progress: { feed: feed.name, value } })
      },
    },
  )
  return tally
}

interface Options extends PlanRules {
  stored: ReadonlyMap<ProductId, StoredProduct>
  feed: FeedName
}

/**
 * Pure: how products change at times to come that the patches newly announce, one change for each time at which one
 * does. What was announced before counts no more.
 */
function planAnnounced(patches: readonly ProductPatch[], options: Options): Change[] {
  const { stored, feed, ranks } = options
  return patches.flatMap((patch) => {
    const times = patch.later?.map(({ at }) => at) ?? []
    if (times.length === 0) return []
    const { document, partial, meta } = stored.get(patch.productId) ?? {}
    const state = meta === undefined ? undefined : decodeState({ document, partial, meta })
    const next = mergePatch({ state, patch, feed, ranks })
    if (textOf(state) === textOf(next)) return []
    return changesAt(times, { ...options, next, productId: patch.productId })
  })
}

function changesAt(
  times: readonly number[],
  { next, productId, ranks, urgent }: Options & { next: ProductState; productId: ProductId },
): Change[] {
  const now = composeDocument(next, productId)
  if (now.kind === 'incomplete') return []
  return times.flatMap((nowMs) => {
    const then = composeDocument(applyDue(next, { nowMs, ranks }), productId)
    if (then.kind === 'incomplete') return []
    const documents = { before: now.document, after: then.document }
    return diffDocuments({ productId, ...documents, urgent, missing: false }) ?? []
  })
}

function textOf(state: ProductState | undefined): string {
  return JSON.stringify(encodeLater(state?.later ?? new Map()))
}
