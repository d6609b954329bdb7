import { appendFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Config } from '../../src/config/model.ts'
import type { CatalogName, FeedName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { makeBackup } from '../../src/operations/make-backup.ts'
import {
  discardRestore,
  finishRestore,
  requireFiles,
  stageRestore,
} from '../../src/operations/restore-backup.ts'
import { readManifest } from '../../src/sources/manifest-reader.ts'
import { feed, openImports, row } from '../imports/harness.ts'
import { leakCheck } from '../support/leak-check.ts'

const leaks = leakCheck()
const feedLines = `products:\n  drop: ./drop\n  missing: { atMost: 100% }\n`
const clock = systemClock

beforeEach(() => leaks.remember())
afterEach(() => leaks.check())

/** Two files are imported, then a backup is made, then a third file is imported. */
async function openSite() {
  const imports = await openImports(feedLines)
  // The catalog's folder of the harness is called `state`.
  const catalog = { ...imports.catalog, name: 'state' as CatalogName }
  const config = { stateDir: imports.dir.path } as Config
  const folder = imports.dir.join('backup')
  await imports.import('products', feed(row('a'), row('b')))
  await imports.import('products', feed(row('a', { price: '11' }), row('b')))
  const back = () => makeBackup({ config, catalogs: [catalog], clock }, folder)
  const stage = (from: string | undefined = folder) => stageRestore({ config, catalogs: [catalog] }, from)
  const state = (...names: string[]) => imports.dir.join('state', ...names)
  return { imports, config, catalog, folder, back, stage, state }
}

type Site = Awaited<ReturnType<typeof openSite>>

async function restore({ stage }: Site): Promise<void> {
  const [one] = await stage()
  if (!one) throw new Error('nothing is staged')
  requireFiles(one)
  await finishRestore(one, clock)
  await discardRestore([one])
}

function pricesOf(file: string): unknown[] {
  using mirror = new MirrorReader(file)
  const ids = [...mirror.pages()].flatMap((page) => page.map(({ productId }) => productId))
  return [...mirror.read(ids).values()].map(({ document }) => JSON.parse(`${document}`).price)
}

it('backs up what is there while its writer goes on, and names what it wrote', async () => {
  const site = await openSite()
  await using imports = site.imports
  const made = await site.back()
  expect(made.catalogs).toMatchObject([
    { catalog: 'state', files: [{ name: 'catalog.db' }, { name: 'manifest.ndjson' }] },
  ])
  expect(pricesOf(join(site.folder, 'state/catalog.db'))).toEqual([11, 10])
  await imports.import('products', feed(row('a', { price: '12' }), row('b')))
  await expect(site.back()).rejects.toMatchObject({ code: 'backup-exists' })
  expect(await readdir(imports.dir.path)).not.toContain('backup.unfinished')
})

it('goes back to the backup, keeps the longer manifest, and imports what was accepted since', async () => {
  const site = await openSite()
  await using imports = site.imports
  await site.back()
  await imports.import('products', feed(row('a', { price: '12' }), row('c')))
  await imports.stop()
  await imports.mirror[Symbol.asyncDispose]()
  const [staged] = await site.stage()
  expect(staged).toMatchObject({ products: 2, again: [{ sequence: 3 }], gone: [] })
  await restore(site)
  expect(pricesOf(site.state('catalog.db'))).toEqual([11, 10])
  expect(await readdir(site.state())).not.toContain('restore')
  await imports.reopenMirror()
  imports.start()
  await imports.untilApplied('products', 3)
  expect(pricesOf(site.state('catalog.db'))).toEqual([12, 10, 10])
  expect(imports.mirror.identity().startOver).toBe(0)
})

it('a folder that was lost comes back whole, and refuses what is no backup or was changed', async () => {
  const site = await openSite()
  await using imports = site.imports
  await imports.archiveAll()
  await site.back()
  await imports.stop()
  await imports.mirror[Symbol.asyncDispose]()
  await rename(site.state(), imports.dir.join('lost'))
  await restore(site)
  using manifest = await readManifest(site.state())
  expect(manifest.nextSequence).toBe(3)
  expect(pricesOf(site.state('catalog.db'))).toEqual([11, 10])
  await rename(join(site.folder, 'backup.json'), join(site.folder, 'other.json'))
  await expect(site.stage()).rejects.toMatchObject({ code: 'no-backup' })
  await rename(join(site.folder, 'other.json'), join(site.folder, 'backup.json'))
  await appendFile(join(site.folder, 'state/catalog.db'), 'x')
  await expect(site.stage()).rejects.toMatchObject({ code: 'backup-damaged' })
  expect(await readdir(site.state())).not.toContain('restore')
})

it('refuses a manifest that goes another way, and one whose files are gone, naming them', async () => {
  const site = await openSite()
  await using imports = site.imports
  await site.back()
  await imports.import('products', feed(row('c')), { name: 'third.csv' })
  await imports.stop()
  await imports.mirror[Symbol.asyncDispose]()
  const [third] = await site.stage()
  for (const name of await readdir(site.state('archive')))
    if (name.includes('third')) await rm(site.state('archive', name))
  const [gone] = await site.stage()
  expect(() => third && requireFiles(third)).not.toThrow()
  expect(() => gone && requireFiles(gone)).toThrow(/import 3 \(products, third\.csv\)/)
  if (gone) await finishRestore(gone, clock)
  using manifest = await readManifest(site.state())
  expect(manifest.outcome(3 as never)).toMatchObject({ outcome: 'refused' })
  const text = await readFile(site.state('manifest.ndjson'), 'utf8')
  await writeFile(site.state('manifest.ndjson'), text.replace('products.csv', 'products.CSV'))
  await expect(site.stage()).rejects.toMatchObject({ code: 'manifest-diverged' })
})

it('without a backup everything that the archive holds is imported again', async () => {
  const site = await openSite()
  await using imports = site.imports
  await imports.stop()
  await imports.mirror[Symbol.asyncDispose]()
  for (const end of ['', '-wal', '-shm']) await rm(site.state(`catalog.db${end}`), { force: true })
  const [staged] = await stageRestore({ config: site.config, catalogs: [site.catalog] }, undefined)
  expect(staged).toMatchObject({ products: 0, gone: [] })
  expect(staged?.again.map(({ feed: name }) => name)).toEqual(['products', 'products'] as FeedName[])
  if (staged) await finishRestore(staged, clock)
  await imports.reopenMirror()
  imports.start()
  await imports.untilApplied('products', 2)
  expect(pricesOf(site.state('catalog.db'))).toEqual([11, 10])
})

it('a restored mirror is no copy, also when it is opened again', async () => {
  const site = await openSite()
  await using imports = site.imports
  await site.back()
  await imports.stop()
  await imports.mirror[Symbol.asyncDispose]()
  await restore(site)
  const file = site.state('catalog.db')
  for (let round = 0; round < 2; round++) {
    using store = MirrorStore.open({ file, isExpected: true })
    store.remember({ beat: round })
  }
  await imports.reopenMirror()
})
