import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { tempDir } from '../support/temp-dir.ts'
import { dump } from './dump.ts'
import { idOf, writeOf } from './writes.ts'

// A mirror of format 1 kept digests and acknowledgements of all products in `sending`, and every document in `documents`.

const formatOne = `
  CREATE TABLE old (
    product INTEGER PRIMARY KEY, lane INTEGER, number INTEGER, since INTEGER, known INTEGER,
    digest BLOB, acknowledged BLOB, acknowledged_at INTEGER);
  INSERT INTO old SELECT product, lane, number, since, known, digest, acknowledged, 5 FROM standing WHERE hasRow;
  UPDATE documents SET document = e.document, partial = e.partial FROM edited e WHERE e.product = documents.product;
  DROP VIEW standing; DROP TABLE sending; DROP TABLE edited; DROP TABLE digests;
  DROP TABLE history; DROP TABLE calls;
  ALTER TABLE old RENAME TO sending;
  CREATE INDEX places ON sending (lane, number, since) WHERE lane IS NOT NULL;
  PRAGMA user_version = 1`

it('a mirror of format 1 is brought up to date with all that is in it', async () => {
  const dir = await tempDir('format')
  onTestFinished(() => dir[Symbol.asyncDispose]())
  const file = dir.join('catalog.db')
  const positions = { urgent: 0, new: 6, deferred: 0 }
  {
    using store = MirrorStore.open({ file, isExpected: false })
    const commit = (chunk: Parameters<typeof store.commit>[0] extends () => infer T ? T : never) => {
      const chunks = [chunk]
      store.commit(() => chunks.pop(), 1_000)
    }
    const incomplete = {
      ...writeOf(8, '1'),
      document: undefined,
      partial: Buffer.from('{}'),
      incomplete: 'name',
    }
    commit({ writes: [...[0, 1, 2, 3, 4, 5].map((n) => writeOf(n, '1')), incomplete] })
    const places = store.readPlaces({ lane: 'new', after: 0, bytesMax: 1e6, rowsMax: 6, documents: false })
    const told = places.flatMap(({ productId, digest }) =>
      digest ? [{ productId, digest, held: false }] : [],
    )
    const letter = {
      productId: idOf(4),
      reason: 'no',
      status: 400,
      requestId: null,
      at: '2026-11-22T00:00:00Z',
    }
    const dead = told.slice(4, 5).map(({ digest, held }) => ({ letter, digest, held }))
    store.drain({ acknowledged: told.slice(0, 4), dead, positions }, 2_000)
    // Edited, edited and in doubt, without a document; 5 is under way.
    commit({
      writes: [
        writeOf(1, '2', 'urgent'),
        writeOf(2, '2', 'deferred'),
        { ...writeOf(3, '2'), document: undefined },
      ],
    })
    commit({ writes: [], resend: [idOf(2)] })
  }
  const wanted = dump(file)
  using database = new DatabaseSync(file)
  database.exec(formatOne)
  expect(() => new MirrorReader(file)).toThrow(/earlier version.*format 1/)
  {
    using _ = MirrorStore.open({ file, isExpected: true })
  }
  const { edited, documents, digests, ...found } = dump(file)
  expect(found.standing).toHaveLength(7)
  // The documents that had been edited stand in `documents` now.
  expect(edited).toEqual([])
  expect(found).toEqual({ ...wanted, edited: undefined, documents: undefined, digests: undefined })
  using reader = new MirrorReader(file)
  const stored = reader.read([0, 1, 2, 3, 8].map(idOf))
  expect([...stored.values()].map(({ document }) => document && JSON.parse(String(document)).price)).toEqual([
    '1',
    '2',
    '2',
    undefined,
    undefined,
  ])
  expect(reader.readDocuments([idOf(1)]).size).toBe(1)
})

it('documents that were edited are moved when there are many, and stay what they are', async () => {
  const dir = await tempDir('edited')
  onTestFinished(() => dir[Symbol.asyncDispose]())
  const file = dir.join('catalog.db')
  const products = 5_000
  using store = MirrorStore.open({ file, isExpected: false })
  const write = (price: string) => {
    const chunks = [{ writes: Array.from({ length: products }, (_, n) => writeOf(n, price)) }]
    store.commit(() => chunks.pop(), 1_000)
  }
  const edited = () => (dump(file).edited ?? []).length
  write('1')
  write('2')
  expect(edited()).toBe(products)
  const before = dump(file).standing
  for (let n = 0; n < 20; n++) store.rest()
  expect(edited()).toBeLessThan(products)
  expect(edited()).toBeGreaterThan(0)
  expect(dump(file).standing).toEqual(before)
  using reader = new MirrorReader(file)
  const ids = Array.from({ length: products }, (_, n) => idOf(n))
  expect([...reader.readDocuments(ids).values()].every(({ document }) => document.includes('"2"'))).toBe(true)
})
