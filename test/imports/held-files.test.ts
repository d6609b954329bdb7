import { expect, test } from 'vitest'
import { heldAfter } from '../../src/imports/context.ts'
import { feed, openImports, row } from './harness.ts'

type Box = Awaited<ReturnType<typeof openImports>>

const watched = `products:
  drop: ./drop
  missing: { atMost: 50% }
  changes: { atMost: { urgent: 50%, new: 50% } }`

const ids = Array.from({ length: 20 }, (_, index) => `p${String(index).padStart(2, '0')}`)

/** The twenty products; the first so many at another price. */
function rows(changed: number, price: string) {
  return ids.map((id, index) => row(id, index < changed ? { price } : {}))
}

async function heldOf(box: Box) {
  return box.held('products').map(({ kind, sequence }) => `${kind} ${sequence}`)
}

async function prices(box: Box) {
  const documents = await Promise.all(ids.map((id) => box.document(id)))
  return documents.map((document) => document?.price)
}

async function loseMirror(box: Box) {
  const last = box.manifest.nextSequence - 1
  await box.loseMirror()
  await box.untilApplied('products', last)
}

test('a file that changes more than changes.atMost is held whole; approve applies it', async () => {
  await using box = await openImports(watched)
  expect(await box.import('products', feed(...rows(0, '')))).toMatchObject({ outcome: 'imported' })
  await box.deliverAll()
  expect(await box.import('products', feed(...rows(10, '11')))).toMatchObject({ outcome: 'imported' })
  const report = await box.import('products', feed(...rows(11, '12')))
  expect(report).toMatchObject({
    outcome: 'held',
    reason: "it changes 11 of the feed's 20 products (urgent), more than changes.atMost.urgent (50%)",
    hint: expect.stringContaining(`approve ${report.sequence}`),
    changes: { changed: 0, urgent: 0 },
  })
  expect((await prices(box)).filter((price) => price === 12)).toEqual([])
  expect(await heldOf(box)).toEqual([`file ${report.sequence}`])
  await loseMirror(box)
  expect(await heldOf(box)).toEqual([`file ${report.sequence}`])
  expect((await prices(box)).filter((price) => price === 11).length).toBe(10)
  await box.approve(report.sequence, 'products')
  expect((await prices(box)).filter((price) => price === 12).length).toBe(11)
  expect(await heldOf(box)).toEqual([])
  expect(box.manifest.outcome(report.sequence as never)?.outcome).toBe('imported')
  // The decision stands in the manifest: it is carried out again in its place.
  await loseMirror(box)
  expect((await prices(box)).filter((price) => price === 12).length).toBe(11)
  expect(await heldOf(box)).toEqual([])
})

test('discard drops a held file, and a later full file takes its place', async () => {
  await using box = await openImports(watched)
  await box.import('products', feed(...rows(0, '')))
  const first = await box.import('products', feed(...rows(20, '12')))
  await box.discard(first.sequence, 'products')
  expect(await heldOf(box)).toEqual([])
  const second = await box.import('products', feed(...rows(20, '13')))
  const third = await box.import('products', feed(...rows(20, '14')))
  expect([second.outcome, third.outcome]).toEqual(['held', 'held'])
  // One held full file takes the place of another.
  expect(await heldOf(box)).toEqual([`file ${third.sequence}`])
  expect(await box.import('products', feed(...rows(1, '15')))).toMatchObject({ outcome: 'imported' })
  expect(await heldOf(box)).toEqual([])
  await box.approve(third.sequence, 'products')
  expect(await prices(box)).toEqual([15, ...ids.slice(1).map(() => 10)])
})

test('new products are counted against those that are known, of which there must be some', async () => {
  await using box = await openImports(watched)
  await box.import('products', feed(...rows(0, '').slice(0, 8)))
  // Of eight products a share says nothing.
  expect(await box.import('products', feed(...rows(0, '')))).toMatchObject({ outcome: 'imported' })
  const more = Array.from({ length: 11 }, (_, index) => row(`q${index}`))
  const report = await box.import('products', feed(...rows(0, ''), ...more))
  expect(report).toMatchObject({
    outcome: 'held',
    reason: 'it brings 11 new products, and the feed has 20, more than changes.atMost.new (50%)',
  })
  expect(await box.document('q0')).toBeUndefined()
})

test('a held delta file is approved as if it had never been held: what came after it counts', async () => {
  await using box = await openImports(watched)
  await box.import('products', feed(...rows(0, '')))
  const delta = { mode: 'delta' as const }
  const held = await box.import('products', feed(...rows(20, '12')), delta)
  const alsoHeld = await box.import('products', feed(...rows(20, '13').slice(0, 12)), delta)
  expect([held.outcome, alsoHeld.outcome]).toEqual(['held', 'held'])
  await box.import('products', feed(row('p01', { price: '99' })), delta)
  expect(await heldOf(box)).toEqual([`file ${held.sequence}`, `file ${alsoHeld.sequence}`])
  const expected = () => ids.map((id) => (id === 'p01' ? 99 : 12))
  await box.approve(held.sequence, 'products')
  expect(await prices(box)).toEqual(expected())
  // The other one still changes more than it may.
  expect(await heldOf(box)).toEqual([`file ${alsoHeld.sequence}`])
  await loseMirror(box)
  expect(await prices(box)).toEqual(expected())
  expect(await heldOf(box)).toEqual([`file ${alsoHeld.sequence}`])
  await box.discard(alsoHeld.sequence, 'products')
  expect(await heldOf(box)).toEqual([])
})

test('a full file of which no id is known is held whole, also where all products may go missing', async () => {
  await using box = await openImports('products: { drop: ./drop, missing: { atMost: 100% } }')
  await box.import('products', feed(row('a')))
  // One product may well be replaced by another.
  expect(await box.import('products', feed(row('b'), row('c')))).toMatchObject({ outcome: 'imported' })
  const replaced = await box.import('products', feed(row('1'), row('2'), row('3')))
  expect(replaced).toMatchObject({
    outcome: 'held',
    reason: 'none of the 2 products that the feed named before is in the file: all ids are others',
  })
  expect(await box.document('1')).toBeUndefined()
  expect(await box.document('b')).toMatchObject({ availability: 'InStock' })
  expect(await box.import('products', feed(row('x'), row('y')), { mode: 'delta' })).toMatchObject({
    outcome: 'imported',
  })
  await box.approve(replaced.sequence, 'products')
  expect(await box.document('1')).toMatchObject({ availability: 'InStock' })
  expect(await box.document('b')).toMatchObject({ availability: 'OutOfStock' })
})

test('a file that is approved may hold its removals in turn, for a decision of their own', async () => {
  await using box = await openImports('products: { drop: ./drop, missing: { atMost: 10% } }')
  await box.import('products', feed(row('a'), row('b')))
  const replaced = await box.import('products', feed(row('1'), row('2')))
  await box.approve(replaced.sequence, 'products')
  expect(await heldOf(box)).toEqual([`removals ${replaced.sequence}`])
  expect(await box.document('a')).toMatchObject({ availability: 'InStock' })
  await loseMirror(box)
  expect(await heldOf(box)).toEqual([`removals ${replaced.sequence}`])
  await box.approve(replaced.sequence, 'products')
  expect(await box.document('a')).toMatchObject({ availability: 'OutOfStock' })
  expect(await heldOf(box)).toEqual([])
})

test('where missing products are ignored a full file may hold new ones only', async () => {
  await using box = await openImports('products: { drop: ./drop, missing: { action: ignore } }')
  await box.import('products', feed(row('a'), row('b')))
  expect(await box.import('products', feed(row('c'), row('d')))).toMatchObject({ outcome: 'imported' })
})

test('what is held after a file', () => {
  const removals = { kind: 'removals', sequence: 2 } as never
  const full = { kind: 'file', mode: 'full', sequence: 3 } as never
  const delta = { kind: 'file', mode: 'delta', sequence: 4 } as never
  const all = [removals, full, delta]
  const fifth = { sequence: 5, supersedes: false, held: undefined }
  expect(heldAfter(all, fifth)).toEqual(all)
  expect(heldAfter(all, { ...fifth, supersedes: true })).toEqual([])
  const heldFull = { kind: 'file', mode: 'full', sequence: 5 } as never
  expect(heldAfter(all, { ...fifth, held: heldFull })).toEqual([removals, delta, heldFull])
  // Applied after it was approved: what is held of later files stays.
  expect(heldAfter(all, { sequence: 3, supersedes: true, held: undefined })).toEqual([delta])
})
