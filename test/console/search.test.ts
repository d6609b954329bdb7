import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Config } from '../../src/config/model.ts'
import { Search } from '../../src/console/search/search.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import type { MirrorChunk } from '../../src/mirror/model.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { idOf, writeOf } from '../mirror/writes.ts'
import { catalogOf } from '../sources/support/setup.ts'
import { leakCheck } from '../support/leak-check.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

const feed = 'products' as FeedName
const workMs = 600_000
const leaks = leakCheck()
let dir: TempDir
let store: MirrorStore
let search: Search

beforeEach(async () => {
  await leaks.remember()
  dir = await tempDir('search')
  const catalog = catalogOf([])
  mkdirSync(dir.join(catalog.name))
  store = MirrorStore.open({ file: dir.join(catalog.name, 'catalog.db'), isExpected: false })
  const config = { stateDir: dir.path } as Config
  search = new Search({ config, catalog, clock, signal: new AbortController().signal })
})
afterEach(async () => {
  store[Symbol.dispose]()
  await dir[Symbol.asyncDispose]()
  await leaks.check()
})

it('leaves the processor to an import, and goes on when it has ended', async () => {
  const document = Buffer.from(JSON.stringify({ name: 'Red chair', product_id: idOf(1) }))
  commit({ writes: [{ ...writeOf(1, '1'), document }], progress: { feed, value: '{}' } })
  expect(await search.work(workMs)).toBeUndefined()
  expect(await search.find('chair')).toEqual({ products: [], more: false, indexed: 0 })
  commit({ writes: [], progress: { feed, value: undefined } })
  expect(await search.work(workMs)).toBeDefined()
  const products = [{ id: idOf(1), name: 'Red chair' }]
  expect(await search.find('chair')).toEqual({ products, more: false, indexed: 1 })
})

function commit(chunk: MirrorChunk): void {
  const chunks = [chunk]
  store.commit(() => chunks.pop(), clock.now())
}
