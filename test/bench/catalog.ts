/** Microseconds per record of the catalog stage, on products of about 1.3 KB. Run: `node test/bench/catalog.ts`. */

import { diffDocuments } from '../../src/catalog/diff.ts'
import { compileMapping } from '../../src/catalog/mapping.ts'
import { mergePatch } from '../../src/catalog/merge.ts'
import type { ProductDocument, ProductPatch, ProductState } from '../../src/catalog/model.ts'
import { rankFields } from '../../src/catalog/ranks.ts'
import { composeDocument, decodeState, storedForm } from '../../src/catalog/stored-form.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { ParsedRecord } from '../../src/records/model.ts'
import { columnRule, feedOf, templateRule, valueRule } from '../catalog/support.ts'

const records = 100_000
const rounds = 3

const fields: Record<string, FieldRule> = {
  product_id: columnRule('sku'),
  name: columnRule('title'),
  url: templateRule('https://shop.example/products/{sku}'),
  image_url: columnRule('image'),
  availability: { ...columnRule('stock'), when: { '<=0': 'OutOfStock' }, otherwise: 'InStock' },
  price: { ...columnRule('price'), decimal: ',', thousands: '.' },
  price_currency_code: valueRule('EUR'),
  list_price: { ...columnRule('was'), decimal: ',', thousands: '.' },
  rating_value: columnRule('rating'),
  review_count: columnRule('reviews'),
  categories: { ...columnRule('category'), separator: '>' },
  description: columnRule('text'),
  brand: columnRule('brand'),
  tag1: columnRule('tags'),
  date_published: { ...columnRule('published'), date: 'DD.MM.YYYY' },
  alternate_image_urls: columnRule('images'),
  inventory_level: columnRule('stock'),
  custom_fields: {
    from: { kind: 'entries', entries: { colour: columnRule('colour'), size: columnRule('size') } },
  },
}
const columns =
  'sku title image stock price was rating reviews category text brand tags published images colour size'.split(
    ' ',
  )

function cellsOf(index: number): string[] {
  const id = `SKU-${index}`
  const image = `https://img.shop.example/${id}/large.jpg`
  const text = `Ein schönes Produkt, Nummer ${index}. `.repeat(20)
  const price = `1.${String(index % 900).padStart(3, '0')},50 €`
  const tags = 'new|sale|summer'
  const cells = [
    id,
    `Kleines Ding ${index}`,
    image,
    String(index % 50),
    price,
    price,
    '4.5',
    String(index % 900),
  ]
  return [
    ...cells,
    'Home > Kitchen > Pans',
    text,
    'Marke',
    tags,
    '28.02.2026',
    `${image}?1|${image}?2`,
    'rot',
    'L',
  ]
}

interface Run {
  name: string
  step: (index: number) => unknown
}

function measure({ name, step }: Run): void {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const began = systemClock.monotonic()
    for (let index = 0; index < records; index++) step(index)
    times.push(((systemClock.monotonic() - began) * 1_000) / records)
  }
  const median = times.sort((left, right) => left - right)[Math.floor(rounds / 2)] ?? 0
  process.stdout.write(`${name.padEnd(32)}${median.toFixed(2).padStart(8)} µs\n`)
}

const feed = feedOf(fields)
const ranks = rankFields(new Map([[feed.name, feed]]))
const binding = compileMapping({ feed, mode: 'full' }).bind(columns)
if (binding.kind !== 'bound') throw new Error('the columns do not fit')
const { bound } = binding

// A window of records is reused: what is measured is the stage, not the garbage of a million parsed rows.
const window: ParsedRecord[] = Array.from({ length: 1_000 }, (_, index) => ({
  record: index + 1,
  line: index + 2,
  cells: cellsOf(index),
}))
const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T
const patches = window.map((record) => {
  const { patch, issues } = bound.map(record, 0)
  if (!patch) throw new Error(JSON.stringify(issues))
  return patch
})
const merge = (state: ProductState | undefined, patch: ProductPatch) =>
  mergePatch({ state, patch, feed: feed.name, ranks })
const states = patches.map((patch) => merge(undefined, patch))
const stored = states.map((state, index) =>
  storedForm(state, composeDocument(state, at(patches, index).productId)),
)
const documents = stored.map(({ document }) => JSON.parse(String(document)) as ProductDocument)
const bytes = stored.reduce((sum, { document }) => sum + (document?.length ?? 0), 0) / stored.length
process.stdout.write(
  `${records} records, documents of ${Math.round(bytes)} bytes, meta "${stored[0]?.meta}"\n`,
)

measure({ name: 'map', step: (index) => bound.map(at(window, index), 0) })
measure({ name: 'merge (first)', step: (index) => merge(undefined, at(patches, index)) })
measure({ name: 'merge (known)', step: (index) => merge(at(states, index), at(patches, index)) })
measure({
  name: 'compose',
  step: (index) => composeDocument(at(states, index), at(patches, index).productId),
})
measure({
  name: 'map + merge + compose + store',
  step: (index) => {
    const { patch } = bound.map(at(window, index), 0)
    if (!patch) return
    const state = merge(undefined, patch)
    storedForm(state, composeDocument(state, patch.productId))
  },
})
measure({ name: 'decode', step: (index) => decodeState(at(stored, index)) })
measure({
  name: 'diff (one price)',
  step: (index) => {
    const before = at(documents, index)
    const after = { ...before, price: 1 }
    return diffDocuments({
      productId: at(patches, index).productId,
      before,
      after,
      urgent: ['price'],
      missing: false,
    })
  },
})
