import { stat, writeFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import type { ProductPatch } from '../../src/catalog/model.ts'
import { noFields } from '../../src/catalog/wire-order.ts'
import { openProducts } from '../../src/imports/open-feed-file.ts'
import { planChunk, planRulesOf } from '../../src/imports/plan-chunk.ts'
import type { ProductId } from '../../src/lib/brand.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import { readCheckedConfig } from '../../src/operations/read-config.ts'
import { sampleFields, writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import type { ParsedRecord, RecordSlice } from '../../src/records/model.ts'
import { parseCsv } from '../../src/records/parse-csv.ts'
import { readSlices } from '../../src/records/slices.ts'
import { tempDir } from '../support/temp-dir.ts'
import { machine } from './stage.ts'

/** Few: in an import, too, what a step is given was made just before. */
const products = 512
const passesPerRound = 8
/** Some 50,000 records a step, not counted: the heap grows, and functions are compiled, at the beginning of a process alone. */
const roundsBefore = 12
const rounds = 9
/** Records are handled a few at a time, as an import does. */
const recordsPerBatch = 16
/** For csv-parse, which takes its time to begin. */
const rowsPerBlock = 256
/** Where csv-parse takes this for a row, the budgets hold. */
const csvParseMicroseconds = 27

/** CPU of each step of one record, from its bytes to its document, beside what csv-parse takes for its row alone. */
export async function benchRecord(): Promise<void> {
  await using dir = await tempDir('record')
  const { slices, ...steps } = await openSteps(dir.join)
  const batches = Array.from({ length: Math.ceil(slices.length / recordsPerBatch) }, (_, index) =>
    slices.slice(index * recordsPerBatch, (index + 1) * recordsPerBatch),
  )
  const records = batches.map(steps.parse)
  const patches = records.map(steps.map)
  const { stored, documents } = steps.store(patches)
  const cheaper = patches.map((batch) =>
    batch.map((patch) => ({ ...patch, set: { ...patch.set, price: 1 } })),
  )
  const prices = patches.map((batch) => batch.map(({ productId }) => priceOf(productId, 2)))
  const blocks = Array.from({ length: products / rowsPerBlock }, (_, index) =>
    textOf(slices.slice(index * rowsPerBlock, (index + 1) * rowsPerBlock)),
  )
  const tasks: Task[] = [
    { name: 'csv-parse', run: (index) => index < blocks.length && parse(blocks[index] ?? '') },
    { name: 'parse', budget: 5, run: (index) => steps.parse(batches[index] ?? []) },
    { name: 'map and check', budget: 8, run: (index) => steps.map(records[index] ?? []) },
    { name: 'compose what is new', budget: 10, run: (index) => steps.plan(patches[index] ?? [], new Map()) },
    { name: 'merge, compose, compare', budget: 10, run: (index) => steps.plan(cheaper[index] ?? [], stored) },
    { name: '  the price of another feed', budget: 10, run: (index) => steps.price(prices[index] ?? []) },
    {
      name: 'digest',
      run: (index) =>
        documents.slice(index * recordsPerBatch, (index + 1) * recordsPerBatch).map(digestDocument),
    },
  ]
  const medians = measure(tasks, { batches: batches.length, records: slices.length })
  const scale = (medians[0] ?? 0) / csvParseMicroseconds
  console.log(
    `${machine()}; budgets × ${scale.toFixed(2)}, as csv-parse takes ${(medians[0] ?? 0).toFixed(1)} µs here`,
  )
  for (const [index, { name, budget }] of tasks.entries()) {
    const took = medians[index] ?? 0
    const limit =
      budget === undefined
        ? ''
        : `of ${(budget * scale).toFixed(1)}${took > budget * scale ? ', too much' : ''}`
    console.log(`${name.padEnd(26)}${took.toFixed(2).padStart(7)} µs ${limit}`)
  }
}

function priceOf(productId: ProductId, price: number): ProductPatch {
  return { productId, set: { ...noFields, price }, clear: [] }
}

function textOf(slices: readonly RecordSlice[]): string {
  return slices.map(({ bytes }) => bytes.toString('utf8')).join('\n')
}

interface Task {
  name: string
  /** In microseconds, for a row of the sample. */
  budget?: number
  run: (batch: number) => unknown
}

/** Of each task the median of its rounds, in microseconds of CPU a record. The tasks take turns. */
function measure(
  tasks: readonly Task[],
  { batches, records }: { batches: number; records: number },
): number[] {
  const times = tasks.map((): number[] => [])
  for (let round = -roundsBefore; round < rounds; round++) {
    for (const [index, { run }] of tasks.entries()) {
      const before = process.cpuUsage()
      for (let step = 0; step < batches * passesPerRound; step++) run(step % batches)
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) times[index]?.push((user + system) / records / passesPerRound)
    }
  }
  return times.map((all) => all.sort((one, other) => one - other)[Math.floor(rounds / 2)] ?? 0)
}

async function openSteps(join: (name: string) => string) {
  const path = join('sample.csv')
  await writeSampleFeed(path, { products })
  const file = join('catalogd.yaml')
  const fields = sampleFields.map((line) => `          ${line}`).join('\n')
  await writeFile(
    file,
    `state: ./state
catalogs:
  main:
    api: { url: "http://127.0.0.1:1", productsToken: none }
    feeds:
      products:
        drop: ./drop
        fields:
${fields}
      prices: { drop: ./prices, fields: { product_id: sku, price: price }, owns: [price] }
`,
  )
  const { config } = await readCheckedConfig({ file, env: {} })
  const [catalog] = config.catalogs.values()
  const [feed, prices] = catalog?.feeds.values() ?? []
  if (!catalog || !feed || !prices) throw new Error('the configuration has no feeds')
  const source = { path, bytes: (await stat(path)).size, name: 'sample.csv' }
  const opened = await openProducts({ feed, mode: 'full', source })
  if (opened.kind !== 'products') throw new Error('the sample does not fit its fields')
  const { dialect, columns } = opened.judgement
  const slices: RecordSlice[] = []
  for await (const batch of readSlices(source, dialect, feed.format.recordBytes)) {
    // Their memory is used again.
    for (const slice of batch.slices) slices.push({ ...slice, bytes: Buffer.from(slice.bytes) })
  }
  const rules = planRulesOf(catalog)
  type Stored = Parameters<typeof planChunk>[0]['stored']
  const plan = (patches: readonly ProductPatch[], stored: Stored, { name } = feed) =>
    planChunk({ steps: patches.map((patch) => ({ patch })), stored, feed: name, import: 1, ...rules })
  let priced: Stored = new Map()
  return {
    slices,
    parse: (batch: readonly RecordSlice[]) =>
      parseCsv(batch, dialect, columns).flatMap((result) => ('parsed' in result ? result.parsed : [])),
    map: (batch: readonly ParsedRecord[]) => batch.flatMap((record) => opened.map(record, 0).item ?? []),
    plan: (patches: readonly ProductPatch[], stored: Stored) => plan(patches, stored),
    /** From the feed that owns the price, which has set another one before. */
    price: (patches: readonly ProductPatch[]) => plan(patches, priced, prices),
    /** As they are once imported. */
    store(patches: readonly (readonly ProductPatch[])[]) {
      const writes = patches.flatMap((batch) => plan(batch, new Map()).writes)
      const stored = new Map(writes.map((write) => [write.productId, write]))
      const told = patches.flat().map(({ productId }) => priceOf(productId, 1))
      priced = new Map(plan(told, stored, prices).writes.map((write) => [write.productId, write]))
      return {
        stored,
        documents: writes.flatMap(({ document }) => document ?? []),
      }
    },
  }
}
