import { sensitiveFields } from '../api/contract/product.ts'
import type { Change, ProductPatch } from '../catalog/model.ts'
import { showValue } from '../catalog/show-value.ts'
import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import { type AbsentProducts, absentById, absentByKey } from '../imports/absent-products.ts'
import { productPages, productsOfFeed } from '../imports/known-products.ts'
import { type ProductStep, planChunk, planRulesOf } from '../imports/plan-chunk.ts'
import { emptyTally, type Tally, tallyNames } from '../imports/tally.ts'
import type { MirrorReader } from '../mirror/model.ts'
import { IdTableBuilder } from '../records/id-table.ts'
import { reasonColumn } from '../records/model.ts'
import { readGroupedRecords } from '../records/read-grouped-records.ts'
import { transformRecords } from '../records/transform-records.ts'
import { type ConsentMirror, diffConsents } from './diff-consents.ts'
import { openProductFinder } from './find-products.ts'
import { namedPatches } from './keyed-products.ts'
import { type OpenedFile, openFile } from './open-file.ts'

interface DiffOptions {
  catalog: CatalogConfig
  feed: FeedConfig
  file: string
  mirror: MirrorReader
  /** Of a feed of consents; undefined: none was ever taken in. */
  consents: ConsentMirror | undefined
  /** For which time the file is read: since the epoch in ms. */
  nowMs: number
  signal: AbortSignal
  onChange: (change: Change) => void
}

/** What importing a file would change, without changing it. */
export interface FileDiff {
  file: string
  feed: string
  records: number
  rejected: number
  unchanged: number
  changes: Tally
  /** Why nothing, or not everything, would be applied. */
  refused?: string
  missingColumns?: readonly string[]
}

type Readable = Extract<OpenedFile, { kind: 'readable' }>

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
  const { action } = feed.missing
  const countsMissing = opened.mode === 'full' && !opened.judgement.columns.includes(reasonColumn)
  if (countsMissing && action === 'out_of_stock') {
    const { ids: values } = opened.judgement
    const { key } = feed
    const { mirror } = options
    const absentOf = key === undefined ? absentById(values) : absentByKey({ key, values, found, mirror })
    await diffMissing(absentOf, options, diff)
  }
  return diff
}

interface Opened {
  opened: Readable
  /** The products that the records of a feed with a key were about. */
  found: IdTableBuilder
}

async function diffRecords({ opened, found }: Opened, options: DiffOptions, diff: FileDiff): Promise<void> {
  const { judgement, mapping, bytes, name } = opened
  const { file, feed, nowMs, signal } = options
  const { recordBytes } = feed.format
  const { key } = feed
  const wanted = judgement.ids
  const find = key === undefined ? undefined : await openProductFinder({ ...options, key, wanted })
  const records = readGroupedRecords({ path: file, name, bytes, ...judgement, recordBytes, signal })
  for await (const batch of transformRecords(records, mapping.transform, { name })) {
    diff.rejected += batch.rejected.filter(({ isRest }) => !isRest).length
    const patches: ProductPatch[] = []
    for (const record of batch.records) {
      const { patch } = mapping.map(record, nowMs)
      if (!patch) diff.rejected += 1
      else if (judgement.ids.isLast(patch.productId, record.record)) patches.push(patch)
      else diff.changes.superseded += 1
    }
    const known = find ? namedPatches(patches, { find, found }) : patches
    diff.rejected += patches.length - known.length
    diffSteps(
      known.map((patch) => ({ patch })),
      options,
      diff,
    )
  }
}

async function diffMissing(absentOf: AbsentProducts, options: DiffOptions, diff: FileDiff): Promise<void> {
  const { mirror, feed, signal } = options
  for await (const page of productPages(mirror, signal)) {
    const absent = absentOf(productsOfFeed(page, feed.name))
    const steps = absent.map((missing) => ({ missing }))
    if (steps.length > 0) diffSteps(steps, options, diff)
  }
}

function diffSteps(steps: readonly ProductStep[], options: DiffOptions, diff: FileDiff): void {
  const { catalog, feed, mirror, onChange } = options
  const ids = steps.map((step) => ('patch' in step ? step.patch.productId : step.missing))
  const plan = planChunk({ steps, stored: mirror.read(ids), feed: feed.name, ...planRulesOf(catalog) })
  for (const change of plan.changes) onChange(withoutSecrets(change))
  for (const name of tallyNames) diff.changes[name] += plan.tally[name]
  // Only records can be unchanged; steps are either all of records or all of missing products.
  if (steps.some((step) => 'patch' in step)) diff.unchanged += steps.length - plan.writes.length
}

/** What a change shows leaves this process: a sensitive value must not. */
function withoutSecrets(change: Change): Change {
  if (!change.fields.some(({ field }) => isSensitive(field))) return change
  const fields = change.fields.map((each) => {
    if (!isSensitive(each.field)) return each
    const { field, before, after } = each
    return { field, before: showValue(field, before), after: showValue(field, after) }
  })
  return { ...change, fields }
}

function isSensitive(field: string): boolean {
  return (sensitiveFields as readonly string[]).includes(field)
}
