import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readKnown } from '../../src/imports/known-records.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import type { KnownIndex } from '../../src/mirror/model.ts'
import { feed, openImports, row } from './harness.ts'

const feeds = `
products: { drop: ./a, files: { full: "*.csv", delta: "*.delta" }, missing: { atMost: 100% }, rejects: { atMost: 100% } }
prices: { drop: ./b, mode: delta, fields: { product_id: product_id, price: price } }
`

type Box = Awaited<ReturnType<typeof openImports>>

describe('records that stood in the last full file', () => {
  it('are neither parsed nor compared', async () => {
    await using box = await openImports(feeds)
    await box.import('products', feed(row('a'), row('b'), row('c')))
    const reads = watchReads(box)
    const report = await box.import('products', feed(row('c'), row('a'), row('b', { price: '11' })))
    expect(report).toMatchObject({ records: 3, unchanged: 2, changes: { changed: 1 } })
    expect(reads).toEqual(['b'])
  })

  it('are read again when the index is gone, damaged, or made by other rules', async () => {
    await using box = await openImports(feeds)
    const same = feed(row('a'), row('b'))
    await box.import('products', same)
    const reads = watchReads(box)
    const index = async () =>
      box.dir.join('state/index', (await readdir(box.dir.join('state/index')))[0] ?? '')
    const spoils = [
      async () => rm(await index()),
      async () => {
        const bytes = await readFile(await index())
        bytes[3] = (bytes[3] ?? 0) ^ 1
        await writeFile(await index(), bytes)
      },
      async () => {
        const feedName = 'products' as FeedName
        const value = { ...(readKnown(box.mirror, feedName) as KnownIndex), rules: 'others' }
        await box.mirror.update([], () => ({ writes: [], known: { feed: feedName, value } }))
        await box.stop()
        box.start()
      },
    ]
    for (const spoil of spoils) {
      await spoil()
      expect(await box.import('products', same)).toMatchObject({ unchanged: 2 })
      expect(reads.splice(0)).toEqual(['a', 'b'])
      await box.import('products', same)
      expect(reads).toEqual([])
    }
  })

  it('are read again after a full file that was given up when it had been applied in part', async () => {
    await using box = await openImports(feeds)
    const same = feed(row('a'), row('b'))
    await box.import('products', same)
    {
      using _ = failAtItsEnd(box)
      const report = await box.import('products', feed(row('a', { price: '11' }), row('b')))
      expect(report).toMatchObject({ outcome: 'refused' })
    }
    expect(await box.document('a')).toMatchObject({ price: 11 })
    await box.import('products', same)
    expect(await box.document('a')).toMatchObject({ price: 10 })
  })

  it('make no difference to what is stored, whatever files follow each other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
        await using box = await openImports(feeds)
        await using plain = await openImports(feeds)
        for (const { feed: name, mode, rows } of steps) {
          // The same without any index.
          await rm(plain.dir.join('state/index'), { recursive: true, force: true })
          const options = { mode, name: `${name}.${mode === 'full' ? 'csv' : 'delta'}` }
          const text = feed(...rows)
          const reports = [await box.import(name, text, options), await plain.import(name, text, options)]
          expect(box.products()).toEqual(plain.products())
          const [one, other] = reports.map(({ outcome, records, rejected, warned, changes }) => {
            return { outcome, records, rejected, warned, changes }
          })
          expect(one).toEqual(other)
        }
      }),
      { numRuns: 15 },
    )
  })
})

/** Which products are compared. */
function watchReads(box: Box): string[] {
  const reads: string[] = []
  const { read } = box.mirror
  box.mirror.read = (ids) => {
    reads.push(...ids)
    return read.call(box.mirror, ids)
  }
  return reads
}

/** A full file of which every record is applied is given up in the end. */
function failAtItsEnd({ mirror }: Box): Disposable {
  const { update } = mirror
  mirror.update = (ids, plan) =>
    update.call(mirror, ids, (stored) => {
      const chunk = plan(stored)
      if (chunk?.known?.value && chunk.known.value.claim === undefined) throw new Error('broken')
      return chunk
    })
  return {
    [Symbol.dispose]() {
      mirror.update = update
    },
  }
}

/** Few of them, so that values return; a word that is warned of, and a price that rejects the record. */
const line = fc.constantFrom(
  ...['a', 'b'].flatMap((id) => [row(id, { price: '1' }), row(id, { price: '2' })]),
  row('a', { price: 'x' }),
  row('b', { stock: 'Maybe' }),
)

const step = fc
  .record({
    feed: fc.constantFrom('products', 'products', 'products', 'prices'),
    mode: fc.constantFrom('full' as const, 'full' as const, 'delta' as const),
    rows: fc.array(line, { minLength: 1, maxLength: 3 }),
  })
  .map(({ feed: name, mode, ...rest }) => ({
    ...{ feed: name, ...rest },
    mode: name === 'prices' ? ('delta' as const) : mode,
  }))
