import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readKnown } from '../../src/imports/known-index.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import type { KnownIndex } from '../../src/mirror/model.ts'
import { feed, header, openImports, row } from './harness.ts'

const feeds = `
products: { drop: ./a, files: { full: "*.csv", delta: "*.delta" }, missing: { atMost: 100% }, rejects: { atMost: 100% } }
prices: { drop: ./b, mode: delta, fields: { product_id: product_id, price: price } }
`

const withHalf = `${feeds}
half: { drop: ./c, fields: { product_id: product_id, name: name, availability: availability } }
`

type Box = Awaited<ReturnType<typeof openImports>>

describe('records that stood in the last full file', () => {
  it('are neither parsed nor compared', async () => {
    await using box = await openImports(feeds)
    await box.import('products', feed(row('a'), row('b'), row('c')))
    const reads = watchReads(box)
    const report = await box.import('products', feed(row('c'), row('a'), row('b', { price: '11' })))
    const skipped = { records: 2 }
    expect(report).toMatchObject({ records: 3, unchanged: 2, changes: { changed: 1 }, skipped })
    expect(reads).toEqual(['b'])
  })

  it('are all that a file holds: the index stays as it is, until one says something else', async () => {
    await using box = await openImports(feeds)
    const files = () => readdir(box.dir.join('state/index'))
    const same = feed(row('a'), row('b'), row('c'))
    await box.import('products', same)
    const index = await files()
    expect(await box.import('products', same)).toMatchObject({ skipped: { records: 3 } })
    expect(await files()).toEqual(index)
    await box.import('products', feed(row('a'), row('b')))
    expect(await files()).not.toEqual(index)
    expect(await box.import('products', same)).toMatchObject({ skipped: { records: 2 } })
    expect(await box.document('c')).toMatchObject({ availability: 'InStock' })
  })

  it('tell what is missing of that which other files brought back since', async () => {
    await using box = await openImports(feeds)
    await box.import('products', feed(row('a'), row('b'), row('c')))
    await box.import('products', feed(row('a'), row('b')))
    await box.import('products', feed(row('c')), { mode: 'delta', name: 'products.delta' })
    expect(await box.document('c')).toMatchObject({ availability: 'InStock' })
    const report = await box.import('products', feed(row('a'), row('b')))
    expect(report).toMatchObject({ skipped: { records: 2 }, removals: { missing: 1, of: 3 } })
    expect(await box.document('c')).toMatchObject({ availability: 'OutOfStock' })
  })

  it('count the products of the feed as they are after a decision', async () => {
    await using box = await openImports(
      feeds.replace('missing: { atMost: 100% }', 'missing: { atMost: 10% }'),
    )
    await box.import('products', feed(row('a'), row('b'), row('c')))
    const held = await box.import('products', feed(row('a'), row('b')))
    expect(held.outcome).toBe('held')
    await box.approve(held.sequence, 'products')
    const report = await box.import('products', feed(row('a'), row('b'), row('c', { price: 'x' })))
    expect(report).toMatchObject({ rejected: 1, removals: { missing: 0, of: 2 } })
  })

  it('count what is held as missing once more', async () => {
    await using box = await openImports(
      feeds.replace('missing: { atMost: 100% }', 'missing: { atMost: 10% }'),
    )
    await box.import('products', feed(row('a'), row('b'), row('c')))
    for (let time = 0; time < 3; time++)
      expect(await box.import('products', feed(row('a'), row('b')))).toMatchObject({
        ...{ outcome: 'held', removals: { missing: 1, of: 3 } },
      })
    const report = await box.import('products', feed(row('a'), row('b'), row('c')))
    expect(report).toMatchObject({ outcome: 'imported', skipped: { records: 2 }, removals: { missing: 0 } })
  })

  it('do not count where their file tells of them: with a warning, or not complete', async () => {
    await using box = await openImports(withHalf)
    const half = feed(row('a', { stock: 'Maybe' }), row('b'), row('c'))
    for (const skipped of [0, 0])
      expect(await box.import('half', half)).toMatchObject({
        ...{ warned: 1, changes: { incomplete: 3 }, skipped: { records: skipped } },
      })
    await box.import('products', feed(row('a'), row('b'), row('c')))
    for (const skipped of [0, 2])
      expect(await box.import('half', half)).toMatchObject({
        ...{ warned: 1, changes: { incomplete: 0 }, skipped: { records: skipped } },
      })
  })

  it('are read again when the index is gone, unreadable, damaged, or made by other rules', async () => {
    await using box = await openImports(feeds)
    const same = feed(row('a'), row('b'))
    await box.import('products', same)
    const reads = watchReads(box)
    const index = async () =>
      box.dir.join('state/index', (await readdir(box.dir.join('state/index')))[0] ?? '')
    const spoils = [
      async () => rm(await index()),
      async () => {
        const path = await index()
        await rm(path)
        await symlink(path, path)
      },
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

  // The documents of `half` are not complete.
  it.each(['products', 'half'])('are none of a first file, which misses nothing: %s', async (name) => {
    await using box = await openImports(withHalf)
    const walked = watchPages(box)
    const rows = feed(row('a'), row('a', { price: '11' }), row('b', { name: '' }), row('c'))
    const first = await box.import(name, rows)
    expect(walked).toEqual([])
    await rm(box.dir.join('state/index'), { recursive: true })
    const again = await box.import(name, rows)
    expect(new Set(walked)).toEqual(new Set(['a', 'c']))
    for (const { removals } of [first, again]) expect(removals).toEqual({ missing: 0, of: 2, held: false })
  })

  it('end a file without a line end, whatever stands before them', async () => {
    await using box = await openImports(feeds)
    const [a, b] = ['a', 'b'].map((id) => JSON.stringify(productOf(id)))
    const lines = `${a}\n{ no JSON\n${b}`
    const options = { name: 'products.ndjson' }
    await box.import('products', lines, options)
    expect(await box.import('products', lines, options)).toMatchObject({
      ...{ outcome: 'imported', rejected: 1, skipped: { records: 2 } },
    })
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
})

function productOf(id: string) {
  const cells = row(id).split(',')
  return Object.fromEntries(header.split(',').map((column, index) => [column, cells[index]]))
}

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

function watchPages(box: Box): string[] {
  const walked: string[] = []
  const { pages } = box.mirror
  box.mirror.pages = function* () {
    for (const page of pages.call(box.mirror)) {
      walked.push(...page.map(({ productId }) => productId))
      yield page
    }
  }
  return walked
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
