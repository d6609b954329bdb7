import { keyValues } from '../catalog/feed-key.ts'
import type { Change } from '../catalog/model.ts'
import { isSensitive, showValue } from '../catalog/show-value.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import { ConsentReader } from '../consents/reader.ts'
import { changeOf, positionOf } from '../consents/row.ts'
import { absentProducts } from '../imports/absent-products.ts'
import { patchesOfKnown } from '../imports/apply-records.ts'
import { isWholeFeed } from '../imports/hold-file.ts'
import { tallyConsent } from '../imports/import-consents.ts'
import { knownProducts, productPages } from '../imports/known-products.ts'
import { type ConsentFile, type ProductFile, readFeedFile } from '../imports/open-feed-file.ts'
import { type ChunkPlan, type ProductStep, planChunk, planRulesOf } from '../imports/plan-chunk.ts'
import { type OverriddenField, OverriddenRecords } from '../imports/record-fates.ts'
import { ProblemCollector } from '../imports/report.ts'
import { emptyTally, type Tally, tallyNames } from '../imports/tally.ts'
import type { AcceptSequence, ProductId } from '../lib/brand.ts'
import type { FoundProducts } from '../mirror/model.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import { type IdTable, IdTableBuilder } from '../records/id-table.ts'
import { type AcceptedFile, openFile } from './open-file.ts'
import {
  countRemovedBrands,
  labelOf,
  type ProductLabel,
  type RemovedBrands,
  readForBrandsMax,
} from './product-labels.ts'

/** `label` reads what the product is called; absent for consents. */
export type OnChange = (change: Change, label?: () => ProductLabel) => void

interface DiffOptions {
  catalog: CatalogConfig
  feed: FeedConfig
  file: string
  /** What was accepted in place of what the name of the file says. */
  accepted?: AcceptedFile
  /** `state/<catalog>`; for consents. */
  dir: string
  mirror: MirrorReader
  /** For which time the file is read: since the epoch in ms. */
  nowMs: number
  signal: AbortSignal
  onProgress?: ((bytesRead: number) => void) | undefined
  onChange: OnChange
}

export interface FileDiff {
  file: string
  feed: string
  records: number
  rejected: number
  unchanged: number
  changes: Tally
  /** Most frequent first: what records say that is not used, since another feed writes the field. */
  overridden: OverriddenField[]
  /** Of the missing products; absent where there are none, or none has a brand. */
  missingBrands?: RemovedBrands
  /** Why nothing, or not everything, would be applied. */
  refused?: string
  missingColumns?: readonly string[]
}

/** Calls `onChange` for every product that would change, in file order, the missing ones last. */
export async function diffFile(options: DiffOptions): Promise<FileDiff> {
  const opened = await openFile(options)
  const { file, feed } = options
  const diff: FileDiff = {
    file,
    feed: feed.name,
    records: 0,
    rejected: 0,
    unchanged: 0,
    changes: emptyTally(),
    overridden: [],
  }
  if (opened.kind === 'refused') return { ...diff, refused: opened.reason }
  diff.records = opened.judgement.records
  if (opened.kind === 'missing-columns') {
    return { ...diff, missingColumns: opened.missingColumns.map(({ column }) => column) }
  }
  if (opened.kind === 'consents') {
    await diffConsents(opened, options, diff)
    return diff
  }
  const found = await IdTableBuilder.open()
  await diffRecords({ opened, found }, options, diff)
  const { ids } = opened.judgement
  const { mirror, signal } = options
  if (feed.missing.action !== 'out_of_stock' || !isWholeFeed(opened, opened.judgement)) return diff
  const removals: ProductId[] = []
  const absentOf = absentProducts({ feed, mirror }, { ids, found })
  for await (const known of knownProducts({ feed, signal, mirror })) {
    const steps = absentOf(known).map((missing) => ({ missing }))
    if (steps.length === 0) continue
    for (const { productId } of diffSteps(steps, options, diff).changes)
      if (removals.length <= readForBrandsMax) removals.push(productId)
  }
  const missingBrands = await countRemovedBrands({ feed, mirror, signal }, removals)
  return missingBrands ? { ...diff, missingBrands } : diff
}

interface Opened {
  opened: ProductFile
  /** The products that the records of a feed with a key were about. */
  found: IdTableBuilder
}

async function diffRecords({ opened, found }: Opened, options: DiffOptions, diff: FileDiff): Promise<void> {
  const { feed, nowMs, onProgress } = options
  const { key } = feed
  const wanted = opened.judgement.ids
  const find = key === undefined ? undefined : await openProductFinder({ ...options, key, wanted })
  const problems = new ProblemCollector()
  const overridden = new OverriddenRecords()
  let unknown = 0
  for await (const { items, superseded } of readFeedFile(opened, {
    now: () => nowMs,
    problems,
    onProgress,
  })) {
    diff.changes.superseded += superseded.length
    const patches = items.map(({ item }) => item)
    const known = find ? patchesOfKnown(patches, find(patches.map(({ productId }) => productId))) : patches
    if (find) for (const { productId } of known) found.add(productId, 0)
    unknown += patches.length - known.length
    const steps = known.map((patch) => ({ patch }))
    overridden.add(diffSteps(steps, options, diff))
  }
  diff.rejected = problems.rejected + unknown
  diff.overridden = overridden.fields
}

function diffSteps(steps: readonly ProductStep[], options: DiffOptions, diff: FileDiff): ChunkPlan {
  const { catalog, feed, mirror, onChange } = options
  const ids = steps.map((step) => ('patch' in step ? step.patch.productId : step.missing))
  const stored = mirror.read(ids)
  const plan = planChunk({ steps, stored, feed: feed.name, ...planRulesOf(catalog) })
  const patches = new Map(
    steps.flatMap((step) => ('patch' in step ? [[step.patch.productId, step.patch]] : [])),
  )
  for (const change of plan.changes) {
    const { productId } = change
    onChange(withoutSecrets(change), () => labelOf(stored.get(productId), patches.get(productId)?.set))
  }
  for (const name of tallyNames) diff.changes[name] += plan.tally[name]
  // Only records can be unchanged; steps are either all of records or all of missing products.
  if (steps.some((step) => 'patch' in step)) diff.unchanged += steps.length - plan.writes.length
  return plan
}

/** What a change shows leaves this process: a sensitive value must not. */
function withoutSecrets(change: Change): Change {
  const fields = change.fields.map(({ field, before, after }) =>
    isSensitive(field)
      ? { field, before: showValue(field, before), after: showValue(field, after) }
      : { field, before, after },
  )
  return { ...change, fields }
}

/** Which products have these values in the field that is a feed's key. Changes nothing. */
type FindProducts = (values: readonly string[]) => FoundProducts

interface FindOptions {
  mirror: MirrorReader
  key: string
  wanted: IdTable
  signal: AbortSignal
}

/** Through the index where the daemon keeps one; a key that it does not know yet is looked for in all products, once. */
async function openProductFinder(options: FindOptions): Promise<FindProducts> {
  const { mirror, key } = options
  if (mirror.keyFields().includes(key)) return (values) => mirror.lookUp({ field: key, values })
  const found = await scanProducts(options)
  return (values) => new Map(values.map((value) => [value, found.get(value) ?? []]))
}

async function scanProducts({ mirror, key, wanted, signal }: FindOptions): Promise<FoundProducts> {
  const found = new Map<string, ProductId[]>()
  for await (const page of productPages(mirror, signal)) {
    for (const [id, { meta, document, partial }] of mirror.read(page.map(({ productId }) => productId))) {
      if (meta === undefined) continue
      for (const value of keyValues(decodeState({ meta, document, partial }).fields, key)) {
        if (!wanted.has(value)) continue
        const known = found.get(value)
        if (!known) found.set(value, [id])
        else if (known.length < 2) known.push(id)
      }
    }
  }
  return found
}

interface ConsentDiffOptions {
  /** `state/<catalog>`. */
  dir: string
  nowMs: number
  onChange: OnChange
}

interface Counts {
  rejected: number
  unchanged: number
  changes: Tally
}

/** A file that comes now stands behind everything that was accepted. */
const newest = 9_999_999_999 as AcceptSequence

/** Which consents a file would change; calls `onChange` with the address in place of the id. */
async function diffConsents(
  file: ConsentFile,
  { dir, nowMs, onChange }: ConsentDiffOptions,
  counts: Counts,
): Promise<void> {
  using known = ConsentReader.open(dir)
  const problems = new ProblemCollector()
  for await (const { items, superseded } of readFeedFile(file, { now: () => nowMs, problems })) {
    counts.changes.superseded += superseded.length
    for (const { item: statement, record } of items) {
      const { email, consent } = statement
      const step = { id: known.idOf(email), statement, position: positionOf(newest, record.record) }
      const row = known.find(step.id)
      const kind = changeOf(row, step)
      tallyConsent(counts.changes, step, kind)
      if (kind === undefined) {
        counts.unchanged += 1
        continue
      }
      const before = row?.consent == null ? undefined : row.consent === 1
      const fields = [{ field: 'consent', before, after: consent }]
      onChange({ productId: email as ProductId, kind, lane: consent ? 'new' : 'urgent', fields })
    }
  }
  counts.rejected = problems.rejected
}
