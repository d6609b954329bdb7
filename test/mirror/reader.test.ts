import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'
import { Database } from '../../src/lib/database.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type { DeadLetter, MirrorChunk } from '../../src/mirror/model.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { startChild } from '../support/child.ts'
import { leakCheck } from '../support/leak-check.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { documentOf, idOf, writeOf } from './writes.ts'

const feed = 'products' as FeedName
const leaks = leakCheck()
let dir: TempDir
let store: MirrorStore
let reader: MirrorReader

beforeEach(async () => {
  await leaks.remember()
  dir = await tempDir('mirror-reader')
  store = MirrorStore.open({ file: dir.join('catalog.db'), isExpected: false })
  reader = new MirrorReader(dir.join('catalog.db'))
})
afterEach(async () => {
  reader[Symbol.dispose]()
  store[Symbol.dispose]()
  await dir[Symbol.asyncDispose]()
  await leaks.check()
})

describe('documents for a call', () => {
  const ids = [3, 1, 9, 2].map(idOf)
  const write = { ...writeOf(2, '1'), document: undefined, incomplete: 'url', lane: undefined }

  it('are the newest, of the products that have one, with their digests', () => {
    commit({ writes: [writeOf(1, '1'), writeOf(3, '3'), write] })
    commit({ writes: [writeOf(1, '2')] })
    const read = reader.readDocuments(ids)
    const expected = [[3, '3'] as const, [1, '2'] as const].map(([nth, price]) => {
      const { document = Buffer.alloc(0) } = writeOf(nth, price)
      return [idOf(nth), { document, digest: digestDocument(document) }]
    })
    expect([...read]).toEqual(expected)
    expect(reader.readDocuments([idOf(2)]).size).toBe(0)
  })

  it.each([
    ['were changed', "document = CAST('{}' AS BLOB)"],
    ['are text of other bytes', "document = 'é'"],
    ['are gone', 'document = NULL'],
  ])('are not read where they %s on the disk', (_, change) => {
    commit({ writes: [writeOf(1, '1'), writeOf(3, '3')] })
    using database = Database.open({ file: dir.join('catalog.db'), access: 'write' })
    database.exec(`UPDATE documents SET ${change} WHERE product = 1`)
    expect(() => reader.readDocuments(ids)).toThrow('damaged')
  })
})

describe('products', () => {
  it('are read with all their parts, and those that are not known with none', () => {
    const partial = Buffer.from('{"name":"n"}')
    commit({
      writes: [
        writeOf(1, '1'),
        { ...writeOf(2, '1'), document: undefined, partial, incomplete: 'url', lane: undefined },
      ],
    })
    const none = { document: undefined, partial: undefined, meta: undefined }
    expect([...reader.read([idOf(1), idOf(2), idOf(3)])]).toEqual([
      [
        idOf(1),
        {
          ...{ document: documentOf(1, '1'), partial: undefined, meta: 'products=1', isUndelivered: true },
          row: { key: 1, missing: null, digest: new Uint8Array(digestDocument(documentOf(1, '1'))) },
        },
      ],
      [
        idOf(2),
        {
          ...{ document: undefined, partial, meta: 'products=1', isUndelivered: false },
          row: { key: 2, missing: 'url', digest: null },
        },
      ],
      [idOf(3), none],
    ])
    expect(reader.incomplete(5)).toEqual([{ productId: idOf(2), missing: 'url' }])
    expect(reader.count()).toMatchObject({ products: 1, incomplete: 1 })
    commit({ writes: [writeOf(2, '1')] })
    expect(reader.incomplete(5)).toEqual([])
  })

  it('are found by ids of any characters', () => {
    const ids = [
      'a\u0000b',
      '\u0000',
      'x\ud800y',
      '"\\\n\u2028',
      '\\u0041',
      '1',
      '1.0',
      'null',
      '[1]',
      '😀',
      ' ',
    ]
    const writes = ids.map((id, n) => ({ ...writeOf(n, '1'), productId: id as ProductId }))
    commit({ writes })
    const found = [...reader.read(writes.map(({ productId }) => productId))]
    expect(found.map(([id, { document }]) => [id, document])).toEqual(
      writes.map(({ productId, document }) => [productId, document]),
    )
  })

  it('are paged, none twice, while more are written', () => {
    commit({ writes: Array.from({ length: 1_200 }, (_, n) => writeOf(n, '1')) })
    const seen: ProductId[] = []
    for (const page of reader.pages()) {
      expect(page.length).toBeLessThanOrEqual(500)
      seen.push(...page.map(({ productId }) => productId))
      commit({ writes: [writeOf(seen.length - 1, '2')] })
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toHaveLength(1_200)
  })

  it('are found by keys: none, one, or two of several', () => {
    const key = (n: number, value: string) => ({ field: 'ean', value, productId: idOf(n) })
    const writes = [1, 2, 3, 4].map((n) => ({
      ...writeOf(n, '1'),
      keys: { add: [key(n, n < 4 ? 'a' : 'b')], remove: [] },
    }))
    commit({ writes, keyFields: { complete: ['ean'] } })
    const look = () => [...reader.lookUp({ field: 'ean', values: ['a', 'b', 'c'] })]
    expect(look()).toEqual([
      ['a', [idOf(1), idOf(2)]],
      ['b', [idOf(4)]],
      ['c', []],
    ])
    commit({ writes: [{ ...writeOf(4, '2'), keys: { add: [key(4, 'c')], remove: [key(4, 'b')] } }] })
    expect(look().slice(1)).toEqual([
      ['b', []],
      ['c', [idOf(4)]],
    ])
    expect(reader.keyFields()).toEqual(['ean'])
    commit({ writes: [], keyFields: { drop: ['ean'] } })
    expect(look().flatMap(([, ids]) => ids)).toEqual([])
    expect(reader.keyFields()).toEqual([])
  })

  it('change at the times that were noted', () => {
    commit({
      writes: [{ ...writeOf(1, '1'), switchAt: 50 }, { ...writeOf(2, '1'), switchAt: 20 }, writeOf(3, '1')],
    })
    expect([reader.nextSwitch(), reader.switchesDue(50, 9), reader.switchesDue(50, 1)]).toEqual([
      20,
      [idOf(2), idOf(1)],
      [idOf(2)],
    ])
    commit({
      writes: [],
      switches: [
        { productId: idOf(2), switchAt: 'none' },
        { productId: idOf(1), switchAt: 60 },
      ],
    })
    expect([reader.nextSwitch(), reader.switchesDue(50, 9)]).toEqual([60, []])
  })
})

it('what was applied is known by its key, whatever its number, until it is to be applied again', () => {
  const apply = (scope: FeedName | '*', sequence: number, key: string) =>
    commit({ writes: [], applied: { scope, sequence, key } })
  apply(feed, 1, 'c1')
  apply('*', 2, 'd2')
  for (let n = 3; n <= 250; n += 1) apply(feed, n, `c${n}`)
  apply(feed, 250, 'c250')
  expect([...reader.applied(feed)].map(({ sequence }) => sequence)).toEqual([...range(250, 3), 1])
  expect([reader.isApplied('d2'), reader.isApplied('c9'), reader.isApplied('c2')]).toEqual([
    true,
    true,
    false,
  ])
  commit({
    writes: [],
    rewind: { scope: feed, sequence: 4 },
    applied: { scope: feed, sequence: 5, key: 'other' },
  })
  expect([...reader.applied(feed)]).toEqual([
    { sequence: 5, key: 'other' },
    { sequence: 4, key: 'c4' },
    { sequence: 3, key: 'c3' },
    { sequence: 1, key: 'c1' },
  ])
})

it('held removals, counters, notices and decisions stand until they are removed', () => {
  const ids = [1, 2, 3].map(idOf)
  commit({ writes: [1, 2, 3].map((n) => writeOf(n, '1')) })
  commit({
    writes: [],
    heldIds: { feed, add: [...ids, 'unknown' as ProductId] },
    held: { feed, value: '[]' },
  })
  commit({
    writes: [],
    heldIds: { feed, remove: [idOf(2)] },
    counts: { claim: 'c1', add: { new: 2, urgent: 0 } },
  })
  commit({
    writes: [],
    counts: { claim: 'c1', add: { new: 1 } },
    notices: [
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ],
  })
  commit({
    writes: [],
    calls: { decision: 'pause', at: 'now' },
    progress: { feed, value: '{}' },
    fullAsOf: { feed, value: 't' },
  })
  expect(reader.heldIds(feed, 9)).toEqual([idOf(1), idOf(3)])
  expect([...reader.held()]).toEqual([[feed, '[]']])
  expect(reader.counts('c1')).toEqual({ new: 3 })
  expect([...reader.notices()]).toEqual([
    ['a', '1'],
    ['b', '2'],
  ])
  expect([reader.calls(), store.calls()]).toEqual(Array(2).fill({ decision: 'pause', at: 'now' }))
  expect([[...reader.progress()], reader.fullAsOf(feed)]).toEqual([[[feed, '{}']], 't'])
  commit({
    ...{ writes: [], heldIds: { feed, clear: true }, held: { feed, value: undefined }, forgetCounts: 'c1' },
    ...{ notices: [{ key: 'a', value: undefined }], progress: { feed, value: undefined } },
  })
  expect([reader.heldIds(feed, 9), [...reader.held()], reader.counts('c1'), [...reader.progress()]]).toEqual([
    [],
    [],
    {},
    [],
  ])
  expect([...reader.notices()]).toEqual([['b', '2']])
})

describe('dead letters', () => {
  const positions = { urgent: 9, new: 9, deferred: 9 }
  const digest = digestDocument(documentOf(1, '1'))
  const second = digestDocument(documentOf(2, '1'))
  const letter = (n: number, at: string): DeadLetter => ({
    productId: idOf(n),
    reason: 'no',
    status: 400,
    requestId: null,
    at,
  })

  beforeEach(() => {
    commit({ writes: [writeOf(1, '1'), writeOf(2, '1')] })
    const dead = [
      { letter: letter(2, 'b'), digest: second, held: false },
      { letter: letter(1, 'a'), digest, held: false },
    ]
    store.drain({ dead, positions }, 1_000)
  })

  it('are listed with the oldest first, and are unsent', () => {
    expect(reader.deadLetters()).toEqual([letter(1, 'a'), letter(2, 'b')])
    expect([reader.deadLetter(idOf(1)), reader.deadDigests([idOf(1), idOf(9)])]).toEqual([
      letter(1, 'a'),
      [digest, undefined],
    ])
    expect([reader.isUnsent(idOf(1)), reader.count().dead]).toEqual([true, 2])
  })

  it('are given up for good, also before the document is refused again', () => {
    commit({ writes: [], dropDead: [{ productId: idOf(1), digest }] })
    expect([reader.isUnsent(idOf(1)), reader.count().dead]).toEqual([false, 1])
    const newer = digestDocument(documentOf(1, '2'))
    commit({ writes: [], dropDead: [{ productId: idOf(1), digest: newer }] })
    commit({ writes: [writeOf(1, '2')] })
    expect(reader.isUnsent(idOf(1))).toBe(true)
    store.drain({ dead: [{ letter: letter(1, 'c'), digest: newer, held: false }], positions }, 1_000)
    expect([reader.isUnsent(idOf(1)), reader.count().dead]).toEqual([false, 1])
  })

  it('are given up for good, also where Redis tells of them once more', () => {
    const tell = (held: boolean) =>
      store.drain({ dead: [{ letter: letter(2, 'b'), digest: second, held }], positions }, 1_000)
    tell(true)
    expect([reader.isUnsent(idOf(2)), reader.count().dead]).toEqual([true, 2])
    commit({ writes: [], dropDead: [{ productId: idOf(2), digest: second }] })
    for (const held of [true, false]) {
      tell(held)
      expect([reader.isUnsent(idOf(2)), reader.count().dead]).toEqual([held, 1])
    }
  })
})

it('another process sees whole chunks while they are written', async () => {
  const products = 50
  const put = (price: string) =>
    commit({ writes: Array.from({ length: products }, (_, n) => writeOf(n, price)) })
  put('0')
  const script = new URL('./read-in-a-loop.ts', import.meta.url)
  await using child = await startChild(script, { args: [dir.join('catalog.db'), `${products}`] })
  await child.line('looks')
  for (let price = 1; price <= 400; price += 1) {
    put(`${price}`)
    if (price % 50 === 0) store.rest()
    if (price % 10 === 0) await new Promise(setImmediate)
  }
  child.send('end')
  expect(await child.ended(), child.stderr).toEqual({ code: 0, signal: null })
  expect(Number(/saw (\d+)/.exec(child.stdout)?.[1])).toBeGreaterThan(1)
})

function commit(chunk: MirrorChunk): void {
  const chunks = [chunk]
  store.commit(() => chunks.pop(), 1_000)
}

function range(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, i) => from - i)
}
