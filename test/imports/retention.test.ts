import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { forgetProducts } from '../../src/imports/forget-products.ts'
import { removeExpired } from '../../src/imports/retention.ts'
import type { AcceptSequence, FeedName, ProductId } from '../../src/lib/brand.ts'
import { Database } from '../../src/lib/database.ts'
import { leakCheck } from '../support/leak-check.ts'
import { shiftedClock } from '../support/shifted-clock.ts'
import { feed, openImports, row } from './harness.ts'

const leaks = leakCheck()
beforeEach(() => leaks.remember())
afterEach(() => leaks.check())

const dayMs = 86_400_000
const goesOn = new AbortController().signal

async function openSite(feedLines: string) {
  const shifted = shiftedClock()
  const imports = await openImports(feedLines, { clock: shifted.clock })
  const { catalog, log } = { catalog: imports.catalog, log: imports.log }
  const common = { feeds: catalog.feeds, clock: shifted.clock, log }
  const options = (keepDays: number) => {
    const { mirror, manifest } = imports
    const books = [mirror]
    return { ...common, mirror, manifest, books, dir: imports.dir.join('state'), keepMs: keepDays * dayMs }
  }
  return {
    ...{ imports, catalog },
    advanceDays: (days: number) => shifted.advance(days * dayMs),
    expire: (keepDays: number) => removeExpired(options(keepDays)),
    forget: () => forgetProducts({ ...options(1), nowMs: shifted.clock.now() }, goesOn),
    archived: async () => {
      const all = await readdir(imports.dir.join('state/archive'), { recursive: true })
      return all.filter((name) => name.includes('~'))
    },
  }
}

it('60 days with keep: 7d keep the disk bounded, and the mirror holds every product', async () => {
  const site = await openSite('products:\n  drop: ./drop\n  missing: { atMost: 100% }\n')
  await using imports = site.imports
  const rows = (day: number) => Array.from({ length: 20 }, (_, n) => row(`p${n}`, { price: `${day + n}` }))
  let highest = 0
  for (let day = 1; day <= 60; day += 1) {
    // A record that is rejected, so that reports and rejected records are there, too.
    await imports.import('products', feed(...rows(day), row('bad', { price: 'none' })))
    await imports.archiveAll()
    site.advanceDays(1)
    await site.expire(7)
    if (day > 7) highest = Math.max(highest, (await site.archived()).length)
  }
  expect(highest).toBeLessThanOrEqual(8)
  expect((await readdir(imports.dir.join('state/reports'))).length).toBeLessThanOrEqual(2 * 8)
  expect((await readdir(imports.dir.join('state/archive'))).length).toBeLessThanOrEqual(8)
  expect(JSON.parse(`${imports.products().p7?.document}`)).toMatchObject({ price: 67 })
  expect(Object.keys(imports.products())).toHaveLength(20)
  const { size } = await stat(imports.dir.join('state/catalog.db'))
  expect(size).toBeLessThan(1_000_000)
})

it('a held file and every later one of its feed stay, as do files that are not imported', async () => {
  const site = await openSite(`products:
  drop: ./drop
  missing: { atMost: 10% }
stock:
  drop: ./stock
  mode: delta
`)
  await using imports = site.imports
  const all = Array.from({ length: 30 }, (_, n) => row(`p${n}`))
  await imports.import('products', feed(...all), { name: 'first.csv' })
  await imports.import('products', feed(...all.slice(0, 20)), { name: 'held.csv' })
  await imports.import('products', feed(all[0] ?? ''), { name: 'later.csv', mode: 'delta' })
  await imports.import('stock', feed(all[1] ?? ''), { name: 'stock.csv', mode: 'delta' })
  expect(imports.held('products')).toMatchObject([{ sequence: 2 }])
  await imports.archiveAll()
  await imports.stop()
  const last = imports.manifest.fileOf(imports.manifest.file(4 as AcceptSequence)?.claim ?? '')
  site.advanceDays(40)
  await imports.mirror.update([], () => ({ writes: [], rewind: { scope: last?.feed ?? '*', sequence: 3 } }))
  expect(await site.expire(30)).toBe(1)
  const names = (await site.archived()).map((name) => name.split('~').at(-1)).sort()
  expect(names).toEqual(['held.csv', 'later.csv', 'stock.csv'].map((name) => expect.stringContaining(name)))
})

it('nothing is removed in the first day of a mirror', async () => {
  const site = await openSite('products:\n  drop: ./drop\n')
  await using imports = site.imports
  await imports.import('products', feed(row('a')))
  await imports.archiveAll()
  site.advanceDays(23 / 24)
  expect(await site.expire(0)).toBe(0)
  site.advanceDays(2 / 24)
  expect(await site.expire(0)).toBe(1)
  expect(existsSync(join(imports.dir.join('state/archive'), (await site.archived())[0] ?? ''))).toBe(true)
  expect(await site.archived()).toEqual([])
})

it('the first day of a mirror is counted by what it holds, whatever the file system keeps', async () => {
  const site = await openSite('products:\n  drop: ./drop\n')
  await using imports = site.imports
  await imports.import('products', feed(row('a')))
  await imports.archiveAll()
  {
    using database = Database.open({ file: imports.dir.join('state/catalog.db'), access: 'write' })
    const sql = "UPDATE facts SET value = ? WHERE kind = 'identity' AND name = 'made'"
    database.run(sql, Date.now() - 2 * dayMs)
  }
  expect(await site.expire(0)).toBe(1)
})

it('forgets products that no feed has named for so long, never one that has a place', async () => {
  const site = await openSite(`products:
  drop: ./drop
  missing: { atMost: 100%, forget: 90d }
other:
  drop: ./other
  missing: { action: ignore }
`)
  await using imports = site.imports
  await imports.import('products', feed(row('a'), row('b'), row('c'), row('d')))
  await imports.import('other', feed(row('d')))
  imports.deliverAll()
  await imports.import('products', feed(row('a')))
  const left = async () => {
    await site.forget()
    return Object.keys(imports.products())
  }
  expect(await left()).toEqual(['a', 'b', 'c', 'd'])
  site.advanceDays(60)
  expect(await left()).toEqual(['a', 'b', 'c', 'd'])
  // It comes back for a day: the time begins anew.
  await imports.import('products', feed(row('a'), row('c')))
  await left()
  await imports.import('products', feed(row('a')))
  await left()
  site.advanceDays(31)
  // b is still to be sent as out of stock.
  expect(await left()).toEqual(['a', 'b', 'c', 'd'])
  imports.deliverAll()
  expect(await left()).toEqual(['a', 'c', 'd'])
  expect(imports.mirror.sql('SELECT * FROM digests')).toHaveLength(3)
  expect(imports.mirror.sql('SELECT * FROM documents')).toHaveLength(3)
  // As if it had never been there.
  await imports.import('products', feed(row('a'), row('b', { price: '5' })))
  expect(await imports.lane('b')).toBe('new')
  expect(imports.mirror.isUnsent('b' as ProductId)).toBe(true)
})

it('a feed that is gone from the configuration keeps no product', async () => {
  const site = await openSite(`products:
  drop: ./drop
  missing: { atMost: 100%, forget: 1d }
old: { drop: ./old }
`)
  await using imports = site.imports
  const files = feed(row('a'), row('b', { stock: 'OutOfStock' }))
  await imports.import('products', files)
  await imports.import('old', files)
  await imports.import('products', feed(row('a')))
  imports.deliverAll()
  const leftAfter = async (days: number) => {
    await site.forget()
    site.advanceDays(days)
    await site.forget()
    return Object.keys(imports.products())
  }
  expect(await leftAfter(2)).toEqual(['a', 'b'])
  const { feeds } = site.catalog
  ;(feeds as Map<FeedName, unknown>).delete('old' as FeedName)
  expect(await leftAfter(2)).toEqual(['a'])
})

it('a product that an import names again meanwhile stays', async () => {
  const site = await openSite('products:\n  drop: ./drop\n  missing: { atMost: 100%, forget: 1d }\n')
  await using imports = site.imports
  await imports.import('products', feed(row('a'), row('b', { stock: 'OutOfStock' })))
  await imports.import('products', feed(row('a')))
  imports.deliverAll()
  await site.forget()
  site.advanceDays(2)
  const { mirror } = imports
  const update = mirror.update.bind(mirror)
  // Between the read of the page and the change.
  mirror.update = async (...given) => {
    mirror.update = update
    await imports.import('products', feed(row('a'), row('b', { stock: 'OutOfStock' })))
    await update(...given)
  }
  await site.forget()
  expect(Object.keys(imports.products())).toEqual(['a', 'b'])
})
