import type { ProductField } from '../api/contract/product.ts'
import { type ChangeCause, encodeChange } from '../catalog/change-entry.ts'
import { diffDocuments } from '../catalog/diff.ts'
import { differingFields } from '../catalog/differing-fields.ts'
import { keyFieldsOf } from '../catalog/feed-key.ts'
import { applyDue, nextSwitch } from '../catalog/later.ts'
import { markMissing } from '../catalog/merge.ts'
import type { Change, ProductPatch, ProductState } from '../catalog/model.ts'
import {
  originsAfter,
  originsOfPatch,
  originsWithout,
  overriddenBy,
  type RecordOrigin,
} from '../catalog/origins.ts'
import { type FieldRanks, rankFields } from '../catalog/ranks.ts'
import {
  type ComposedDocument,
  composeDocument,
  encodeMetaOfPatch,
  storedFormOfPatch,
} from '../catalog/stored-form.ts'
import type { CatalogConfig } from '../config/model.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import type { ProductWrite, StoredProduct } from '../mirror/model.ts'
import { formOf, keysOf, mergeStored, type ProductForm, readState } from './merge-stored.ts'
import { emptyTally, type Tally, tallyChange } from './tally.ts'

/** One step for one product: what a record says, or that a full feed no longer names it. */
export type ProductStep = { patch: ProductPatch; line?: number } | { missing: ProductId }

/** What the configuration says of merging records and of what a change means. */
export interface PlanRules {
  ranks: FieldRanks
  urgent: readonly string[]
  /** Fields by which some feed finds products. */
  keyFields: readonly string[]
}

export function planRulesOf({ feeds, urgent }: Pick<CatalogConfig, 'feeds' | 'urgent'>): PlanRules {
  return { ranks: rankFields(feeds), urgent, keyFields: keyFieldsOf(feeds) }
}

interface PlanOptions extends PlanRules {
  steps: readonly ProductStep[]
  stored: ReadonlyMap<ProductId, StoredProduct>
  feed: FeedName
  /** The number of the import, noted with what it changes; left out where nothing is written. */
  import?: number
}

export interface ChunkPlan {
  writes: ProductWrite[]
  changes: Change[]
  /** Of products that stay as they are, although what another feed hides has changed. */
  origins: { productId: ProductId; origins: string }[]
  /** Those whose document is not complete. */
  incomplete: ProductId[]
  /** What records said of fields that other feeds write. */
  overridden: { productId: ProductId; field: ProductField; writer: FeedName }[]
  tally: Tally
}

function emptyPlan(): ChunkPlan {
  return { writes: [], changes: [], origins: [], incomplete: [], overridden: [], tally: emptyTally() }
}

/**
 * Pure: which products change, how, and into which lane. Products that stay as they are need no write. Budget: 10 µs of CPU
 * for a product of 1.3 KB, where csv-parse takes 27 for its row (`npm run bench -- record`).
 */
export function planChunk({ steps, stored, feed, ranks, import: number, ...rules }: PlanOptions): ChunkPlan {
  const plan = emptyPlan()
  for (const step of steps) {
    if ('missing' in step) {
      addMissing(plan, { productId: step.missing, before: stored.get(step.missing), feed, rules, number })
      continue
    }
    const { patch, line = 0 } = step
    const before = stored.get(patch.productId)
    const origin = number === undefined ? undefined : { import: number, line }
    const meta = metaOfPatch(patch, { before, feed, rules })
    if (meta !== undefined) addPatch(plan, { before, patch, meta, feed, origin, rules })
    else addMerged(plan, { before, patch, ranks, feed, origin, rules })
  }
  return plan
}

interface DueOptions extends Omit<PlanOptions, 'steps' | 'feed' | 'import'> {
  nowMs: number
}

export interface DuePlan extends ChunkPlan {
  /** Of all the products, also of those that are not written. */
  switches: { productId: ProductId; switchAt: number | 'none' }[]
}

/** Pure: what becomes of products whose announced changes are due, each feed's by the ranks of its records. */
export function planDue({ stored, nowMs, ranks, ...rules }: DueOptions): DuePlan {
  const plan: DuePlan = { ...emptyPlan(), switches: [] }
  for (const [productId, before] of stored) {
    const state = readState(before)
    const next = state && applyDue(state, { nowMs, ranks })
    plan.switches.push({ productId, switchAt: nextSwitch(next?.later) ?? 'none' })
    const noted = { origins: before.origins, cause: { kind: 'announced' as const } }
    if (next) addProduct(plan, { productId, before, state, next, rules, ...noted, missing: false })
  }
  return plan
}

/**
 * Set where the patch alone says what the product is from now on: it is new, or no other feed has spoken of it, nor this one
 * of other fields. So it is for most products of most catalogs.
 */
function metaOfPatch(
  patch: ProductPatch,
  { before, feed, rules }: Pick<PlanOptions, 'feed'> & Pick<ProductOutcome, 'before' | 'rules'>,
): string | undefined {
  if (patch.later || patch.keepEntries) return undefined
  const meta = encodeMetaOfPatch(patch, feed)
  if (before?.meta === undefined) return meta
  const isSole = before.meta === meta && before.partial === undefined
  return isSole && rules.keyFields.length === 0 ? meta : undefined
}

/** As `addProduct` of what merging the patch gives, in half the time: no state is read, merged or written down. */
function addPatch(
  plan: ChunkPlan,
  {
    patch,
    before,
    meta,
    feed,
    origin,
    rules,
  }: Pick<ProductOutcome, 'before' | 'rules'> & {
    patch: ProductPatch
    meta: string
    feed: FeedName
    origin: RecordOrigin | undefined
  },
): void {
  const { productId, set: fields } = patch
  const composed = composeDocument({ fields }, productId)
  const form = storedFormOfPatch({ set: fields, meta }, composed)
  const beside = keysOf({ productId, keyFields: rules.keyFields }, [undefined, fields])
  const origins = origin && originsOfPatch(feed, origin)
  const cause = origin && { kind: 'record' as const, feed, ...origin }
  addForm(plan, { productId, before, rules, origins, cause, missing: false, composed, form, beside })
}

/** A record of a product of which other feeds have spoken, or this one of other fields. */
function addMerged(
  plan: ChunkPlan,
  {
    patch,
    before,
    ranks,
    feed,
    origin,
    rules,
  }: Pick<ProductOutcome, 'before' | 'rules'> & {
    patch: ProductPatch
    ranks: FieldRanks
    feed: FeedName
    origin: RecordOrigin | undefined
  },
): void {
  const { productId } = patch
  const { keyFields } = rules
  const { state, next, ...outcome } = mergeStored(before, { patch, feed, ranks, keyFields })
  const noted = origin && originsAfter(before?.origins, { feed, patch, origin, state, next })
  const cause = origin && { kind: 'record' as const, feed, ...origin }
  const isWritten = addForm(plan, {
    ...{ productId, before, rules, missing: false, origins: noted?.text, cause },
    ...outcome,
  })
  if (!isWritten && noted?.isHiddenChanged) plan.origins.push({ productId, origins: noted.text })
  for (const each of overriddenBy(patch, feed, next)) plan.overridden.push({ productId, ...each })
}

function addMissing(
  plan: ChunkPlan,
  {
    productId,
    before,
    feed,
    rules,
    number,
  }: Pick<ProductOutcome, 'productId' | 'before' | 'rules'> & {
    feed: FeedName
    number: number | undefined
  },
): void {
  const state = before && readState(before)
  if (!state) return
  const noted = number !== undefined && {
    origins: originsWithout(before.origins, feed, number),
    cause: { kind: 'missing' as const, feed, import: number },
  }
  const next = markMissing(state, feed)
  addProduct(plan, { productId, before, state, next, rules, ...noted, missing: true })
}

interface ProductOutcome {
  /** One object for all products: a copy of what it holds, made of each product, costs more than some of the steps. */
  rules: Pick<PlanRules, 'urgent' | 'keyFields'>
  productId: ProductId
  before: StoredProduct | undefined
  /** `before` as it reads. */
  state: ProductState | undefined
  next: ProductState
  missing: boolean
  /** Of the product as it is written. */
  origins?: string | undefined
  /** Left out where nothing is written. */
  cause?: ChangeCause | undefined
}

function addProduct(plan: ChunkPlan, outcome: ProductOutcome): void {
  const { productId, rules, state, next } = outcome
  addForm(plan, { ...outcome, ...formOf({ productId, keyFields: rules.keyFields }, { state, next }) })
}

interface FormOutcome
  extends ProductForm,
    Pick<ProductOutcome, 'productId' | 'before' | 'rules' | 'missing' | 'origins' | 'cause'> {}

/** Answers whether the product is written. */
function addForm(plan: ChunkPlan, outcome: FormOutcome): boolean {
  const { productId, before, composed, form, beside, origins, cause } = outcome
  if (composed.kind === 'incomplete') {
    plan.tally.incomplete += 1
    plan.incomplete.push(productId)
  }
  const change = composed.kind === 'complete' ? changeOf(outcome, composed) : undefined
  // What differs in the order of its keys or its notation alone, such as bytes of another version, stays as it is stored:
  // what is stored is always what was offered, or an acknowledgement would never end the product's turn.
  if (composed.kind === 'complete' && !change) form.document = before?.document
  const isSame = sameBytes(before?.document, form.document) && sameBytes(before?.partial, form.partial)
  if (isSame && before?.meta === form.meta) return false
  const write: ProductWrite = { productId, ...form, ...beside, lane: change?.lane, origins }
  plan.writes.push(write)
  if (!change) return true
  // What is new says it all itself; a first load writes no row for it.
  if (cause && change.kind !== 'added') write.change = encodeChange(change, cause)
  tallyChange(plan.tally, change)
  plan.changes.push(change)
  return true
}

function changeOf(
  { productId, before, rules, missing }: FormOutcome,
  composed: Extract<ComposedDocument, { kind: 'complete' }>,
): Change | undefined {
  const stored = before?.document
  if (sameBytes(stored, composed.bytes)) return undefined
  const documents = (stored && differingFields(stored, composed.bytes)) ?? {
    before: stored && JSON.parse(stored.toString('utf8')),
    after: composed.document,
  }
  const isUndelivered = before?.isUndelivered
  return diffDocuments({ productId, ...documents, urgent: rules.urgent, missing, isUndelivered })
}

function sameBytes(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other)
}
