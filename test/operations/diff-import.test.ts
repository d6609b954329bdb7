import { expect, test } from 'vitest'
import type { Change } from '../../src/catalog/model.ts'
import type { AcceptSequence } from '../../src/lib/brand.ts'
import { diffImport, heldExamples } from '../../src/operations/diff-import.ts'
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
    ...{ kind: 'removals', products: ids.slice(5, 8), more: true },
  })
})
