import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isSameFile, watchFile } from '../../src/lib/database-file.ts'
import { StorageError } from '../../src/lib/errors.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore, type StoreOptions } from '../../src/mirror/store.ts'
import { canMount, mountSmallDisk } from '../sources/support/small-disk.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { documentOf, idOf, writeOf } from './writes.ts'

let dir: TempDir
let file: string

beforeEach(async () => {
  dir = await tempDir('mirror-file')
  file = dir.join('catalog.db')
})
afterEach(() => dir[Symbol.asyncDispose]())

const restore = expect.stringContaining('catalogd restore <folder>')

describe('a mirror that is not the one that was written here', () => {
  it('is refused as a copy, until it is taken for the mirror', () => {
    fill(open(), 1)
    copyFileSync(file, dir.join('copy.db'))
    file = dir.join('copy.db')
    expectRefusal({}, 'mirror-copied', restore)
    using store = open({ takesCopy: true })
    expect(
      store.readPlaces({ lane: 'new', after: 0, bytesMax: 1e6, rowsMax: 9, documents: true }),
    ).toHaveLength(1)
    open()[Symbol.dispose]()
  })

  it('is the same after its folder was moved', () => {
    fill(open(), 1)
    renameSync(file, dir.join('moved.db'))
    file = dir.join('moved.db')
    open()[Symbol.dispose]()
  })

  it('is told by its inode and its time of birth, or by the inode where that time is not known', () => {
    expect(isSameFile('7:100', '7:100')).toBe(true)
    expect(isSameFile('7:100', '8:100')).toBe(false)
    expect(isSameFile('7:100', '7:200')).toBe(false)
    expect([isSameFile('7', '7:100'), isSameFile('7:100', '7'), isSameFile('7', '8:100')]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('is noticed while it is open', async () => {
    using _ = open()
    const replace = () => {
      copyFileSync(file, dir.join('copy.db'))
      renameSync(dir.join('copy.db'), file)
    }
    for (const change of [replace, () => rmSync(file)]) {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      using __ = watchFile(file, resolve)
      change()
      expect(await promise).toMatchObject({ code: 'database-replaced', hint: restore })
    }
  })

  it('is refused where it is gone or empty beside files that were imported', () => {
    expectRefusal({ isExpected: true }, 'mirror-missing', restore)
    writeFileSync(file, '')
    expectRefusal({ isExpected: true }, 'mirror-missing', restore)
    open().readIdentity()
  })

  it('is refused where a later version has written it, for reading, too', () => {
    fill(open(), 1)
    using database = new DatabaseSync(file)
    database.exec('PRAGMA user_version = 99')
    database.close()
    expectRefusal({}, 'mirror-newer', restore)
    expect(() => new MirrorReader(file)).toThrow(expect.objectContaining({ code: 'mirror-newer' }))
  })
})

describe('a damaged file', () => {
  it('is refused where it is no database', () => {
    writeFileSync(
      file,
      'not at all a database, but long enough to be taken for one by its size alone'.repeat(99),
    )
    expectRefusal({ isExpected: true }, 'database-damaged', restore)
  })

  it('is refused where an index hides a product that is unsent', () => {
    fill(open(), 3)
    rebuildIndex('lane = 7')
    rebuildIndex('lane IS NOT NULL', { isFilled: false })
    expectRefusal({}, 'database-damaged', restore)
  })

  it('is refused where the identity of the file is no text any more', () => {
    fill(open(), 1)
    using database = new DatabaseSync(file)
    database.exec("UPDATE facts SET value = CAST(value AS BLOB) WHERE kind = 'identity' AND name = 'file'")
    expectRefusal({}, 'database-damaged', restore)
  })

  it.each(['id', 'meta'])("is refused where a product's %s is no text any more", (column) => {
    using store = open()
    commit(store, 0, 300)
    using database = new DatabaseSync(file)
    database.exec(`UPDATE products SET ${column} = CAST(${column} AS BLOB) WHERE key = 7`)
    using reader = new MirrorReader(file)
    const damaged = expect.objectContaining({ code: 'database-damaged', hint: restore })
    expect(() => [...reader.pages()]).toThrow(damaged)
    const readPlaces = () =>
      store.readPlaces({ lane: 'new', after: 0, bytesMax: 1e9, rowsMax: 1e6, documents: false })
    if (column === 'id') expect(readPlaces).toThrow(damaged)
    else expect(() => reader.read([idOf(6)])).toThrow(damaged)
  })

  it('never shows another document than was written, and hides none that is unsent', () => {
    fill(open(), 300)
    const whole = readFileSync(file)
    const pages = whole.length / 8_192
    const flip = fc.record({
      page: fc.integer({ min: 0, max: pages - 1 }),
      seed: fc.nat(),
      bytes: fc.constantFrom(1, 50, 8_192),
    })
    let noticed = 0
    fc.assert(
      fc.property(flip, ({ page, seed, bytes }) => {
        const bad = Buffer.from(whole)
        const from = page * 8_192 + (seed % (8_193 - bytes))
        for (let i = 0; i < bytes; i += 1) bad[from + i] = (bad[from + i] ?? 0) ^ (1 << ((seed + i) % 8))
        rmSync(`${file}-wal`, { force: true })
        rmSync(`${file}-shm`, { force: true })
        writeFileSync(file, bad)
        try {
          readAll()
        } catch (error) {
          expect(error).toBeInstanceOf(StorageError)
          expect(error).toMatchObject({ hint: restore })
          noticed += 1
        }
      }),
      { numRuns: 150 },
    )
    expect(noticed).toBeGreaterThan(30)
  })
})

describe('a full disk', () => {
  it.skipIf(!canMount)(
    'refuses a commit, says what to do, and goes on when there is room (needs a tmpfs)',
    async () => {
      await using _ = mountSmallDisk(dir.join('disk'), 2)
      file = dir.join('disk', 'catalog.db')
      using store = open()
      let products = 0
      const add = () => commit(store, products, 20)
      const fillUp = () => {
        for (;;) {
          add()
          products += 20
        }
      }
      expect(fillUp).toThrow(
        expect.objectContaining({ code: 'disk-full', hint: expect.stringContaining('Free space') }),
      )
      expect(products).toBeGreaterThan(100)
      using reader = new MirrorReader(file)
      expect(reader.count().places.new.waiting).toBe(products)
      execFileSync('mount', ['-o', 'remount,size=8m', dir.join('disk')])
      add()
      expect(reader.count().places.new.waiting).toBe(products + 20)
      expect(store.readIdentity().last.new).toBe(products + 20)
    },
  )
})

function open(options: Partial<StoreOptions> = {}): MirrorStore {
  return MirrorStore.open({ file, isExpected: false, ...options })
}

function fill(store: MirrorStore, products: number): void {
  using _ = store
  commit(store, 0, products)
}

function commit(store: MirrorStore, first: number, products: number): void {
  const chunks = [
    { writes: Array.from({ length: products }, (_, i) => writeOf(first + i, priceOf(first + i))) },
  ]
  store.commit(() => chunks.pop(), 1_000)
}

/** Which rows the index `places` is for; unless `isFilled`, its rows stay as they are. */
function rebuildIndex(where: string, { isFilled = true } = {}): void {
  using database = new DatabaseSync(file, { defensive: false })
  const sql = `CREATE INDEX places ON sending (lane, number, since) WHERE ${where}`
  database.exec('PRAGMA writable_schema = ON')
  database.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'places'").run(sql)
  database.exec('PRAGMA writable_schema = RESET')
  if (isFilled) database.exec('REINDEX places')
}

function priceOf(n: number): string {
  return `${n}`.repeat(300)
}

function readAll(): void {
  using store = open({ takesCopy: true })
  using reader = new MirrorReader(file)
  for (const page of reader.pages()) {
    for (const { document } of reader.read(page.map(({ productId }) => productId)).values()) check(document)
  }
  const places = store.readPlaces({ lane: 'new', after: 0, bytesMax: 1e9, rowsMax: 1e6, documents: true })
  expect(places.map(({ kind }) => kind)).toEqual(Array(300).fill('change'))
  for (const { document } of places) check(document)
  reader.count()
  reader.deadLetters()
  reader.identity()
}

/** The id beside it may be wrong; what is sent names its product itself. */
function check(document: Buffer | undefined): void {
  if (!document) return
  const n = Number((JSON.parse(document.toString()) as { product_id: string }).product_id.slice(1))
  expect(document.equals(documentOf(n, priceOf(n)))).toBe(true)
}

function expectRefusal(options: Partial<StoreOptions>, code: string, hint: unknown): void {
  expect(() => open(options)).toThrow(expect.objectContaining({ name: 'StorageError', code, hint }))
}
