import { expect, test } from 'vitest'
import { feed, openImports, row } from './harness.ts'

type Box = Awaited<ReturnType<typeof openImports>>

const ids = Array.from({ length: 20 }, (_, index) => `p${String(index).padStart(2, '0')}`)
const delta = { mode: 'delta' as const }

async function heldOf(box: Box, of = 'products') {
  return box.held(of).map(({ sequence }) => sequence)
}

async function loseMirror(box: Box, ...feeds: string[]) {
  const last = new Map(feeds.map((name) => [name, Number(box.manifest.newest(name as never)?.sequence ?? 0)]))
  await box.loseMirror()
  for (const [name, sequence] of last) await box.untilApplied(name, sequence)
}

test('a discarded file stays out when an earlier one is approved', async () => {
  await using box = await openImports('products: { drop: ./drop, changes: { atMost: 50% } }')
  await box.import('products', feed(...ids.map((id) => row(id))))
  const first = await box.import('products', feed(...ids.map((id) => row(id, { price: '12' }))), delta)
  const second = await box.import(
    'products',
    feed(...ids.map((id) => row(id, { price: id === 'p00' ? '0.01' : '12' }))),
    delta,
  )
  expect(await heldOf(box)).toEqual([first.sequence, second.sequence])
  await box.discard(second.sequence, 'products')
  await box.approve(first.sequence, 'products')
  expect(await box.document('p00')).toMatchObject({ price: 12 })
  expect(await heldOf(box)).toEqual([])
  await loseMirror(box, 'products')
  expect(await box.document('p00')).toMatchObject({ price: 12 })
})

test('a discarded file stays out, and a held one held, when Redis lost all and feeds go another way', async () => {
  await using box = await openImports(`products: { drop: ./products, missing: { atMost: 100% } }
prices:
  drop: ./prices
  mode: delta
  fields: { product_id: sku, price: price }
  owns: [price]
  changes: { atMost: 50% }`)
  const prices = (price: string) => `sku,price\n${ids.map((id) => `${id},${price}`).join('\n')}\n`
  // The products stand at the end, so that a replay has no document yet that the prices could change.
  const many = Array.from({ length: 5_000 }, (_, index) => row(`q${index}`))
  await box.import('products', feed(...many, ...ids.map((id) => row(id))))
  await box.import('prices', prices('11'), delta)
  const wrong = await box.import('prices', prices('0.01'), delta)
  const other = await box.import('prices', prices('0.02'), delta)
  await box.discard(wrong.sequence, 'prices')
  expect(await box.document('p00')).toMatchObject({ price: 11 })
  await loseMirror(box, 'products', 'prices')
  expect(await box.document('p00')).toMatchObject({ price: 11 })
  expect(await heldOf(box, 'prices')).toEqual([other.sequence])
})

test('a full file without a valid record does away with nothing that is held', async () => {
  await using box = await openImports('products: { drop: ./drop, changes: { atMost: 50% } }')
  await box.import('products', feed(...ids.map((id) => row(id))))
  const held = await box.import('products', feed(...ids.map((id) => row(id, { price: '12' }))), delta)
  const empty = await box.import('products', feed())
  const rejected = await box.import('products', feed(row('p00', { price: 'none' })))
  expect([empty.outcome, rejected.outcome]).toEqual(['held', 'held'])
  expect(await heldOf(box)).toEqual([held.sequence, rejected.sequence])
  await box.approve(held.sequence, 'products')
  expect(await box.document('p00')).toMatchObject({ price: 12, availability: 'InStock' })
  expect(await heldOf(box)).toEqual([rejected.sequence])
})
