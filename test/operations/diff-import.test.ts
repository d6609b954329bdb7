import { expect, test } from 'vitest'
import type { Change } from '../../src/catalog/model.ts'
import { formatChange, formatDiff } from '../../src/cli/diff.ts'
import type { AcceptSequence } from '../../src/lib/brand.ts'
import { diffImport, heldBrands, heldExamples } from '../../src/operations/diff-import.ts'
import type { LabelledChange } from '../../src/operations/product-labels.ts'
import { feed, openImports, row } from '../imports/harness.ts'

const watched = `products:
  drop: ./drop
  missing: { atMost: 50% }
  changes: { atMost: { urgent: 50% } }`
const ids = Array.from({ length: 20 }, (_, index) => `p${String(index).padStart(2, '0')}`)

test('what a held file would change is told from the archive, whole or in examples', async () => {
  await using box = await openImports(watched)
  const options = {
    ...{ catalog: box.catalog, dir: box.dir.join('state'), mirror: box.mirror, nowMs: Date.now() },
    signal: new AbortController().signal,
  }
  const changes: Change[] = []
  const diff = (sequence: number, of = 'products') =>
    diffImport(
      { ...options, onChange: (change) => changes.push(change) },
      { feed: of, sequence: sequence as AcceptSequence },
    )
  await box.import('products', feed(...ids.map((id) => row(id))))
  const dearer = feed(...ids.map((id) => row(id, { price: '11', text: 'long enough to be worth it' })))
  expect(await box.import('products', dearer)).toMatchObject({ outcome: 'held' })
  const wanted = { records: 20, changes: { changed: 20, urgent: 20 }, rejected: 0 }
  expect(await diff(2)).toMatchObject(wanted)
  expect(changes).toHaveLength(20)
  // The archive has it compressed some time later.
  await box.archiveAll()
  expect(await diff(2)).toMatchObject(wanted)
  const held = await heldExamples(options, { feed: 'products', sequence: 2 }, 10)
  expect(held).toMatchObject({ kind: 'file', more: true })
  expect(held?.kind === 'file' && held.changes.map(({ productId }) => productId)).toEqual(ids.slice(0, 10))
  expect(await heldExamples(options, { feed: 'products', sequence: 1 }, 10)).toBeNull()
  await expect(diff(2, 'prices')).rejects.toThrow(/import 2 of feed prices is one of feed products/)
  await expect(diff(9)).rejects.toThrow(/import 9 .* is not there/)

  const short = await box.import('products', feed(...ids.slice(0, 5).map((id) => row(id))))
  expect(short).toMatchObject({ outcome: 'held', removals: { missing: 15, held: true } })
  expect(await heldExamples(options, { feed: 'products', sequence: 3 }, 3)).toEqual({
    ...{
      kind: 'removals',
      products: ids.slice(5, 8).map((id) => ({ productId: id, name: `Name ${id}`, brand: null })),
      more: true,
    },
  })
})

test('removals are told by name, and counted by brand', async () => {
  await using box = await openImports(watched)
  const { signal } = new AbortController()
  const options = {
    ...{ catalog: box.catalog, dir: box.dir.join('state'), mirror: box.mirror, nowMs: Date.now(), signal },
  }
  const branded = (from: readonly string[]) =>
    feed(...from.map((id) => `${row(id)},${brandOf(id)}`)).replace('description\n', 'description,brand\n')
  // Seven brands of two to four products, and two products without one.
  const brandOf = (id: string) => {
    const number = Number(id.slice(1))
    return number < 4 ? 'Lumo' : number < 8 ? 'Nord' : number < 18 ? `Few ${number >> 1}` : ''
  }
  await box.import('products', branded(ids))
  const rest = ['p07', 'p18', 'p19']
  expect(await box.import('products', branded(rest))).toMatchObject({ removals: { missing: 17, held: true } })
  const wanted = {
    brands: [
      { brand: 'Lumo', removed: 4, products: 4 },
      { brand: 'Nord', removed: 3, products: 4 },
      ...[4, 5, 6].map((number) => ({ brand: `Few ${number}`, removed: 2, products: 2 })),
    ],
    more: 2,
    first: null,
  }
  expect(await heldBrands(options, 'products')).toEqual(wanted)
  const changes: LabelledChange[] = []
  const diff = await diffImport(
    { ...options, onChange: (change, label) => changes.push({ ...change, ...label?.() }) },
    { feed: 'products', sequence: 2 as AcceptSequence },
  )
  expect(diff.missingBrands).toEqual(wanted)
  expect(formatDiff(diff)).toContain(
    'by brand: Lumo 4 of 4, Nord 3 of 4, Few 4 2 of 2, Few 5 2 of 2, Few 6 2 of 2, and 2 more',
  )
  expect(changes[0]).toMatchObject({ productId: 'p00', name: 'Name p00', brand: 'Lumo', kind: 'missing' })
  expect(changes.map(formatChange)[0]).toMatch(/^p00 {2}Name p00 {2}missing {2}/)
})
