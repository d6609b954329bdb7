import { zstdCompressSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { holdsId, packIds, type SettledCall, unpackIds } from '../../src/mirror/calls.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { tempDir } from '../support/temp-dir.ts'
import { idOf, writeOf } from './writes.ts'

async function openStore(kept: { historyBytes: number; callsBytes: number }) {
  const dir = await tempDir('stories')
  onTestFinished(() => dir[Symbol.asyncDispose]())
  const file = dir.join('catalog.db')
  return { file, store: MirrorStore.open({ file, isExpected: false, kept }) }
}

function commit(store: MirrorStore, writes: ReturnType<typeof writeOf>[], nowMs = 1): void {
  const chunks = [{ writes }]
  store.commit(() => chunks.pop(), nowMs)
}

it('the changes of a product take no more bytes than they may, and the oldest go first', async () => {
  const { file, store } = await openStore({ historyBytes: 100, callsBytes: 0 })
  using _ = store
  commit(store, [writeOf(0, '1'), writeOf(1, '1')])
  using reader = new MirrorReader(file)
  expect(reader.story(idOf(0))?.history).toEqual([])
  for (let n = 2; n < 30; n++)
    commit(store, [{ ...writeOf(0, String(n), 'urgent'), change: `["ä",${n}]` }], 1_000 + n)
  // What waits is told, too.
  expect(reader.story(idOf(0))?.history.slice(0, 3)).toEqual([
    '1029 ["ä",29]',
    '1028 ["ä",28]',
    '1027 ["ä",27]',
  ])
  expect(reader.story(idOf(1))?.history).toEqual([])
  for (let n = 0; n < 20; n++) store.rest()
  const history = reader.story(idOf(0))?.history ?? []
  expect(history.slice(0, 2)).toEqual(['1029 ["ä",29]', '1028 ["ä",28]'])
  // 14 bytes each, and a line end: six of them fit.
  expect(history).toHaveLength(6)
  expect(reader.story(idOf(1))?.history).toEqual([])
  expect(reader.story(idOf(9))).toBeUndefined()
})

it('a product keeps what is noted of its origins while its document is edited and moved', async () => {
  const { file, store } = await openStore({ historyBytes: 100, callsBytes: 0 })
  using _ = store
  const count = 5_000
  const all = (price: string) =>
    Array.from({ length: count }, (_, n) => ({ ...writeOf(n, price), origins: `["feed",${price},${n}]` }))
  commit(store, all('1'))
  commit(store, all('2'))
  const noted = [
    { writes: [], origins: [0, count - 1].map((n) => ({ productId: idOf(n), origins: '["feed",3,0]' })) },
  ]
  store.commit(() => noted.pop(), 1)
  for (let n = 0; n < 20; n++) store.rest()
  using reader = new MirrorReader(file)
  expect([0, 1, count - 2, count - 1].map((n) => reader.story(idOf(n))?.origins)).toEqual([
    '["feed",3,0]',
    '["feed",2,1]',
    `["feed",2,${count - 2}]`,
    '["feed",3,0]',
  ])
})

it('calls are written with what is drained, and all take no more bytes than they may', async () => {
  const { file, store } = await openStore({ historyBytes: 0, callsBytes: 10_000 })
  using _ = store
  const callOf = (n: number): SettledCall => ({
    ...{ beganMs: n, endedMs: n + 1, products: 2, lanes: null, bytes: 10, status: 200, requestId: `r${n}` },
    ...{ outcome: 'acknowledge', description: null, refused: 0, ids: packIds([`p${n}`, 'a "quoted" id']) },
  })
  using reader = new MirrorReader(file)
  store.noteCalls([callOf(1)])
  expect([...reader.settledCalls()]).toEqual([])
  store.drain({ positions: { urgent: 0, new: 0, deferred: 0 } }, 5)
  expect([...reader.settledCalls()].map(({ requestId }) => requestId)).toEqual(['r1'])
  for (let n = 2; n < 100; n++) store.noteCalls([callOf(n)])
  // Nothing is drained where all calls fail.
  store.rest()
  const calls = [...reader.settledCalls()]
  expect(calls[0]).toMatchObject({ requestId: 'r99', beganMs: 99 })
  expect(calls.length).toBeGreaterThan(20)
  expect(calls.length).toBeLessThan(80)
  expect(calls.map(({ number }) => number)).toEqual(calls.map((_, at) => 99 - at))
  const [newest] = calls
  expect(newest && unpackIds(newest.ids)).toEqual(['p99', 'a "quoted" id'])
  expect(newest && ['p99', 'a "quoted" id', 'p9', 'quoted'].map((id) => holdsId(newest.ids, id))).toEqual([
    ...[true, true, false, false],
  ])
})

it('a call holds all of its ids and no others, packed with marks or as before', () => {
  const ids = Array.from({ length: 1_300 }, (_, n) => `SKU-${n}-\u{1f6cb}"`)
  const others = Array.from({ length: 1_300 }, (_, n) => `SKU-${n}`)
  const before = new Uint8Array(zstdCompressSync(JSON.stringify(ids.slice(0, 5))))
  for (const packed of [packIds(ids), packIds(ids.slice(0, 1)), before]) {
    const held = unpackIds(packed)
    expect(ids.filter((id) => holdsId(packed, id))).toEqual(held)
    expect(others.filter((id) => holdsId(packed, id))).toEqual([])
  }
  expect(holdsId(packIds([]), '')).toBe(false)
})

it('changes that wait outlive the process, go to their products in order, and go with them', async () => {
  const { file, store } = await openStore({ historyBytes: 1_000, callsBytes: 0 })
  const change = (n: number, nth: number) => ({ ...writeOf(n, `${nth}`, 'urgent'), change: `["n",${nth}]` })
  commit(store, [writeOf(0, '0'), writeOf(1, '0')])
  for (let nth = 1; nth <= 600; nth++) commit(store, [change(0, nth), change(1, nth)], nth)
  store[Symbol.dispose]()
  using again = MirrorStore.open({ file, isExpected: true, kept: { historyBytes: 1_000, callsBytes: 0 } })
  using reader = new MirrorReader(file)
  const newest = Array.from({ length: 50 }, (_, at) => `${600 - at} ["n",${600 - at}]`)
  expect(reader.story(idOf(0))?.history.slice(0, 50)).toEqual(newest)
  // Nothing of what failed stays.
  const failing = { ...change(1, 601), productId: null as never }
  expect(() => commit(again, [change(0, 601), failing], 601)).toThrow()
  commit(again, [change(0, 601)], 601)
  for (let n = 0; n < 10; n++) again.rest()
  expect(reader.story(idOf(0))?.history.slice(0, 51)).toEqual(['601 ["n",601]', ...newest])
  for (let n = 0; n < 40; n++) again.rest()
  expect(reader.story(idOf(0))?.history.slice(0, 51)).toEqual(['601 ["n",601]', ...newest])
  commit(again, [change(1, 602)], 602)
  const places = again.readPlaces({ lane: 'urgent', after: 0, bytesMax: 1e9, rowsMax: 10, documents: false })
  const acknowledged = places.map(({ productId, digest }) => ({ productId, digest, held: false }))
  again.drain({ acknowledged, positions: again.readIdentity().last }, 602)
  const gone = [{ writes: [], absent: { absent: [], present: [], forget: [idOf(1)], nowMs: 603 } }]
  again.commit(() => gone.pop(), 603)
  commit(again, [writeOf(2, '1')], 604)
  expect(reader.story(idOf(2))?.history ?? []).toEqual([])
})
