import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import type { Claim } from '../../src/outbox/model.ts'
import { type Harness, idsOf, openHarness, write } from './harness.ts'

const callBytes = 2_000_000

/** Products for the next calls are at hand. */
async function stockUp(box: Harness, bytesMax = callBytes): Promise<void> {
  box.box.newProducts.prepare(bytesMax, true)
  await box.settle()
}

/** A process that imports and delivers, and whose calls have asked for new products. */
async function openDelivering({ bytesMax = callBytes, newAfterMs = 0 } = {}): Promise<Harness> {
  const box = await openHarness({ delivers: true, newAfterMs })
  // The first turn compares, and forgets what was asked for.
  await box.settle()
  box.box.newProducts.prepare(bytesMax)
  await box.settle()
  return box
}

/** A call of products that Redis does not know. */
async function takeNew(box: Harness, bytesMax = callBytes): Promise<Claim> {
  await stockUp(box, bytesMax)
  const claim = await box.claim('any', bytesMax)
  expect(await box.connection.hlen(box.keys.claimed)).toBe(0)
  return claim
}

/** Redis hears of the products of a call in a turn. */
async function whileTurning<T>(box: Harness, settling: Promise<T>): Promise<T> {
  let isSettled = false
  const settled = settling.finally(() => {
    isSettled = true
  })
  while (!isSettled) await box.loop.turn()
  return settled
}

const textsOf = ({ products }: Claim) => products.map(({ document }) => document.toString())

async function endLeases({ connection, keys, outbox }: Harness): Promise<number> {
  for (const token of await connection.zrange(keys.leases, '0', '-1'))
    await connection.zadd(keys.leases, 'XX', 1, token)
  return outbox.expireClaims()
}

test('Redis never hears of new products whose call is taken', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  box.commit('b', '2')
  const claim = await takeNew(box)
  expect([idsOf(claim), textsOf(claim), claim.lanes.new]).toEqual([['a', 'b'], ['1', '2'], 2])
  expect(await box.connection.exists(box.keys.pending, box.keys.new)).toBe(0)
  await box.outbox.acknowledge(claim.token, claim.products)
  await box.settle()
  expect([box.places(), await box.remains()]).toEqual([[], []])
  expect(await box.connection.hget(box.keys.counters, 'acknowledged:n')).toBe('2')
  expect(await box.connection.hget(box.keys.positions, 'new')).toBe('2')
})

test('a product that changes while its call is under way is in no other, and goes out when that has ended', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  const first = await takeNew(box)
  box.commit('a', '2', 'urgent')
  await stockUp(box)
  expect((await box.outbox.claim({ mode: 'any', bodyBytesMax: callBytes })).kind).toBe('idle')
  await box.outbox.acknowledge(first.token, first.products)
  await box.settle()
  const second = await box.deliver()
  expect(textsOf(second)).toEqual(['2'])
  expect([box.places(), await box.remains()]).toEqual([[], []])
})

test('a document that came after the product was taken goes out when its call has ended', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  await stockUp(box)
  box.commit('a', '2', 'urgent')
  const claim = await box.claim()
  expect(textsOf(claim)).toEqual(['1'])
  await box.outbox.acknowledge(claim.token, claim.products)
  await box.settle()
  expect(textsOf(await box.deliver())).toEqual(['2'])
  expect([box.places(), await box.remains()]).toEqual([[], []])
})

test('a new product that changes before a call takes it is sent as it is now', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  box.commit('b', '1')
  box.commit('a', '2', 'new')
  const claim = await takeNew(box)
  expect([idsOf(claim), textsOf(claim)]).toEqual([
    ['a', 'b'],
    ['2', '1'],
  ])
})

test('a call reads in the mirror what no longer fits into memory, also where it was edited', async () => {
  await using box = await openDelivering()
  const long = (name: string) => name.padEnd(900_000, 'x')
  const ids = Array.from({ length: 26 }, (_, at) => `p${at}`)
  for (const id of ids) box.commit(id, long(id))
  box.commit('p24', long('edited'), 'new')
  const sent: string[] = []
  for (let calls = 0; calls < 13; calls += 1) {
    const claim = await takeNew(box)
    sent.push(...textsOf(claim))
    await box.outbox.acknowledge(claim.token, claim.products)
    await box.settle()
  }
  expect(sent).toEqual(ids.map((id) => long(id === 'p24' ? 'edited' : id)))
  expect([box.places(), await box.remains()]).toEqual([[], []])
})

test('since when its products wait comes with a call, so many of them since each time', async () => {
  await using box = await openDelivering()
  const nowMs = Date.now()
  box.commitAll([write('a', '1', 'new'), write('b', '1', 'new')], 60_000)
  box.commit('c', '1', 'new', 20_000)
  const { products } = await takeNew(box)
  const places = products.map(
    ({ place }) => place && { ...place, sinceMs: Math.round((nowMs - place.sinceMs) / 10_000) },
  )
  expect(places).toEqual([
    { lane: 'new', sinceMs: 6, products: 2 },
    undefined,
    { lane: 'new', sinceMs: 2, products: 1 },
  ])
})

test.for([
  ['as it was', undefined],
  ['changed before the process ended', '2'],
] as const)(
  'what was on its way when the process was killed is sent again and echoed, %s',
  async ([, text]) => {
    await using box = await openDelivering()
    box.commit('a', '1')
    await takeNew(box)
    if (text) box.commit('a', text, 'urgent')
    box.restart()
    await stockUp(box)
    expect((await box.outbox.claim({ mode: 'any', bodyBytesMax: callBytes })).kind).toBe('idle')
    expect(await endLeases(box)).toBe(1)
    await box.settle()
    const again = await box.deliver()
    expect(textsOf(again)).toEqual([text ?? '1'])
    expect(await box.lanesOf('a')).toEqual(['echoes'])
    expect(box.places()).toHaveLength(1)
  },
)

test('all calls that were under way are sent again, also where a change of one of their products was passed over', async () => {
  await using box = await openDelivering({ bytesMax: 4 })
  box.commit('a', '1')
  box.commit('b', '1')
  await takeNew(box, 4)
  await takeNew(box, 4)
  box.commit('a', '2', 'deferred')
  await box.settle()
  box.restart()
  await box.settle()
  expect(await endLeases(box)).toBe(2)
  await box.settle()
  const { products } = await box.deliver()
  expect(products.map(({ productId, document }) => `${productId} ${document}`).sort()).toEqual(['a 2', 'b 1'])
})

test('a new product that changes before a call takes it goes out once, in its lane', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  box.commit('a', '2', 'urgent')
  await stockUp(box)
  expect(box.box.newProducts.isReady).toBe(false)
  expect(await box.lanesOf('a')).toEqual(['urgent'])
})

test('what is behind the calls under way is not echoed, however late the process was killed', async () => {
  await using box = await openDelivering({ bytesMax: 5 })
  for (let product = 0; product < 9_000; product += 1) box.commit(`p${product}`, 'x')
  const claim = await takeNew(box, 5)
  expect(claim.products).toHaveLength(2)
  box.restart()
  await box.settle()
  // Numbers are reserved in advance.
  const bound = await box.connection.hlen(box.keys.claimed)
  expect(bound).toBeGreaterThanOrEqual(2)
  expect(bound).toBeLessThan(8_300)
})

test('a process that ended in good order leaves nothing to be echoed', async () => {
  await using box = await openDelivering({ bytesMax: 4 })
  box.commit('a', '1')
  box.commit('b', '2')
  const claim = await takeNew(box, 4)
  await stockUp(box, 4)
  await box.outbox.acknowledge(claim.token, claim.products)
  box.box.newProducts.giveBack()
  await box.loop[Symbol.asyncDispose]()
  expect(box.places().map(({ id }) => id)).toEqual(['b'])
  box.restart()
  await box.settle()
  expect(await box.connection.hlen(box.keys.claimed)).toBe(0)
  expect(idsOf(await box.claim())).toEqual(['b'])
})

test.for([
  ['not-sent', []],
  ['sent', []],
  ['unknown', ['echoes']],
] as const)('products of a call that ends as %s go on in Redis', async ([outcome, others]) => {
  await using box = await openDelivering()
  box.commit('a', '1')
  const claim = await takeNew(box)
  await whileTurning(box, box.outbox.release(claim.token, idsOf(claim) as [], outcome))
  expect(await box.lanesOf('a')).toEqual(['new', ...others])
  await box.settle()
  const again = await box.deliver()
  expect(textsOf(again)).toEqual(['1'])
  expect(await box.lanesOf('a')).toEqual(others)
  expect(box.places()).toHaveLength(others.length)
})

test('of a call some products are refused and some taken', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  box.commit('b', '2')
  const { token, products } = await takeNew(box)
  const [taken, refused] = products
  if (!taken || !refused) throw new Error('two products were taken')
  await whileTurning(box, box.outbox.acknowledge(token, [taken]))
  await box.outbox.reject(token, [{ ...refused, status: 400, requestId: undefined, reason: 'no' }])
  await box.settle()
  expect([box.places(), box.deadIds(), await box.remains()]).toEqual([[], ['b'], []])
})

test('a product that changed while its call was under way goes out, too, when that call went on in Redis', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  const { token, products } = await takeNew(box)
  box.commit('a', '2', 'urgent')
  await box.settle()
  await whileTurning(box, box.outbox.release(token, ['a'] as never, 'sent'))
  await box.settle()
  expect(products).toHaveLength(1)
  expect(await box.lanesOf('a')).toEqual(['urgent'])
  expect(textsOf(await box.deliver())).toEqual(['2'])
  expect([box.places(), await box.remains()]).toEqual([[], []])
})

test('what went on in Redis is taken by no call without it, also by another process', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  const { token } = await takeNew(box)
  await whileTurning(box, box.outbox.release(token, ['a'] as never, 'unknown'))
  await box.loop[Symbol.asyncDispose]()
  box.restart()
  await stockUp(box)
  expect(box.box.newProducts.isReady).toBe(false)
  expect(await box.lanesOf('a')).toEqual(['new', 'echoes'])
})

test('a call that no longer fits sends what does, and the rest goes on in Redis', async () => {
  await using box = await openDelivering()
  for (const id of ['a', 'b', 'c']) box.commit(id, 'x'.repeat(30_000))
  await stockUp(box)
  await box.outbox.learnBodyBytes(70_000)
  const claim = await whileTurning(box, box.claim())
  expect(idsOf(claim)).toEqual(['a', 'b'])
  expect(await box.lanesOf('c')).toEqual(['new'])
  await box.outbox.acknowledge(claim.token, claim.products)
  await box.settle()
  expect(box.places().map(({ id }) => id)).toEqual(['c'])
})

test('after a loss nothing begins that was taken before it', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  await stockUp(box)
  await box.connection.flushall()
  await box.loop.turn().catch(() => box.loop.forget())
  await box.settle()
  expect(box.box.newProducts.isReady).toBe(false)
  expect(await box.lanesOf('a')).toEqual(['new', 'echoes'])
})

test('a call that was asked for before a loss begins with nothing that was taken', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  await stockUp(box)
  const asked = box.outbox.claim({ mode: 'any', bodyBytesMax: callBytes })
  box.box.newProducts.receive({ kind: 'forgotten' })
  expect((await asked).kind).toBe('shut')
  expect(box.box.newProducts.isReady).toBe(false)
})

test('no call begins of what was taken before another process with this mirror has taken over', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  await stockUp(box)
  await box.connection.hset(box.keys.guard, 'session', 'of another process')
  expect((await box.outbox.claim({ mode: 'any', bodyBytesMax: callBytes })).kind).toBe('idle')
  expect((await box.outbox.lookDue()).anyDue).toBe(false)
  await box.connection.hset(box.keys.guard, 'session', box.box.newProducts.session)
  expect((await box.outbox.lookDue()).anyDue).toBe(true)
  expect(idsOf(await box.claim())).toEqual(['a'])
})

test('where another process reads documents in Redis, new products go there', async () => {
  await using box = await openDelivering()
  box.box.newProducts.prepare(callBytes)
  await box.settle()
  await box.connection.hset(box.keys.pace, 'readAt', Date.now())
  box.commit('a', '1')
  await box.settle()
  expect(await box.lanesOf('a')).toEqual(['new'])
  expect(await box.connection.hkeys(box.keys.documents)).toEqual(['a'])
})

test('new products wait for others until they fill a call, or have waited long enough', async () => {
  await using box = await openDelivering({ bytesMax: 7, newAfterMs: 60_000 })
  const ask = async () => {
    box.box.newProducts.prepare(7)
    await box.settle()
    const { isReady, isDue } = box.box.newProducts
    return [isReady, isDue]
  }
  box.commit('a', '1')
  expect(await ask()).toEqual([false, false])
  box.commit('b', '1')
  box.commit('c', '1')
  box.commit('d', '1', 'new', 60_000)
  expect(await ask()).toEqual([true, true])
  expect(idsOf(await box.claim('any', 7))).toEqual(['a', 'b', 'c'])
  expect((await box.outbox.lookDue()).anyDue).toBe(true)
  // Only now is a call about to begin: what came since may go along.
  box.commit('e', '1')
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax: 7 })).toEqual({ kind: 'wait', forMs: 20 })
  await box.settle()
  expect(idsOf(await box.claim('any', 7))).toEqual(['d', 'e'])
})

test('urgent changes go first, and what waits in Redis has every other call', async () => {
  await using box = await openDelivering({ bytesMax: 3 })
  await box.connection.hset(box.keys.pace, 'readAt', Date.now())
  for (const id of ['r1', 'r2']) await box.put(id, '1')
  await box.connection.hset(box.keys.pace, 'readAt', 0)
  for (const id of ['n1', 'n2', 'n3']) box.commit(id, '1')
  box.commit('u', '1', 'urgent', 1_000)
  const calls: string[] = []
  for (let call = 0; call < 6; call += 1) {
    await stockUp(box, 3)
    calls.push(...idsOf(await box.deliver('any', 3)))
  }
  expect(calls[0]).toBe('u')
  // So do others, as long as there are any.
  expect(calls.slice(1, 3).sort()).toEqual(['n1', 'r1'])
  expect(calls.slice(3, 5).sort()).toEqual(['n2', 'r2'])
})

test.for(['killed', 'closed'] as const)(
  'what Redis was offered for another process is not taken by the next, %s',
  async (how) => {
    await using box = await openDelivering({ bytesMax: 4 })
    box.commit('a', '1')
    await stockUp(box, 4)
    await box.connection.hset(box.keys.pace, 'readAt', Date.now())
    // More than there are numbers reserved.
    const ids = Array.from({ length: 9_000 }, (_, product) => `b${product}`)
    box.commitAll(ids.map((id) => write(id, '1', 'new')))
    await box.settle()
    if (how === 'closed') {
      box.box.newProducts.giveBack()
      await box.loop[Symbol.asyncDispose]()
    }
    await box.connection.hset(box.keys.pace, 'readAt', 0)
    box.restart()
    await stockUp(box, 4)
    expect(box.box.newProducts.isReady).toBe(false)
    expect(await box.lanesOf('b8999')).toEqual(['new'])
  },
)

test('the position follows where the lane has no room', async () => {
  await using box = await openDelivering({ bytesMax: 4 })
  box.commit('a', '1')
  const { token, products } = await takeNew(box, 4)
  await box.connection.hset(box.keys.bytes, 'n', 10_000_000_000)
  await box.outbox.acknowledge(token, products)
  await box.settle()
  expect(await box.connection.hget(box.keys.positions, 'new')).toBe('1')
})

test('a process that makes no calls for now leaves new products to others, and takes them again', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  await stockUp(box)
  box.outbox.rest()
  box.commit('b', '1')
  await box.settle()
  expect([await box.lanesOf('a'), await box.lanesOf('b')]).toEqual([['new'], ['new']])
  await stockUp(box)
  box.commit('c', '1')
  await stockUp(box)
  expect(await box.lanesOf('c')).toEqual([])
  expect(box.box.newProducts.isReady).toBe(true)
})

test('where nobody has asked for a while, Redis gets new products', async () => {
  await using box = await openHarness({ delivers: true })
  let laterMs = 0
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + laterMs }
  const loop = box.openLoop({ clock })
  await box.settle(loop)
  box.commit('a', '1')
  await box.settle(loop)
  expect(await box.lanesOf('a')).toEqual([])
  laterMs = 10_000
  await box.settle(loop)
  expect(await box.lanesOf('a')).toEqual(['new'])
})

test('who reads documents in Redis gets new products there, although none is due yet', async () => {
  await using box = await openDelivering()
  const other = box.openOutbox({ mirror: () => undefined })
  expect((await other.claim({ mode: 'any', bodyBytesMax: callBytes })).kind).toBe('idle')
  box.commit('a', '1')
  await box.settle()
  expect(await box.connection.hkeys(box.keys.documents)).toEqual(['a'])
})

test('a change of a product whose call has not begun goes out without it', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  await stockUp(box)
  box.commit('a', '2', 'urgent')
  await box.settle()
  await box.settle()
  expect(box.box.newProducts.isReady).toBe(false)
  expect(await box.lanesOf('a')).toEqual(['urgent'])
  expect(textsOf(await box.deliver('urgent'))).toEqual(['2'])
  expect([box.places(), await box.remains()]).toEqual([[], []])
})

test('a product that was withdrawn on its way keeps no place when the process is killed', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  box.commit('b', '1')
  await takeNew(box)
  box.commitAll([{ ...write('a', '1', 'new'), document: undefined, incomplete: 'price' }])
  await box.settle()
  box.restart()
  await box.settle()
  expect(await endLeases(box)).toBe(1)
  await box.settle()
  expect(box.places().map(({ id }) => id)).toEqual(['b'])
})

test('when nothing is on its way, a kill leaves nothing to be echoed', async () => {
  await using box = await openDelivering()
  box.commit('a', '1')
  const { token, products } = await takeNew(box)
  await box.outbox.acknowledge(token, products)
  await box.settle()
  box.commit('u', '1', 'urgent')
  await box.settle()
  box.commit('u', '2', 'urgent')
  await box.settle()
  box.restart()
  await box.settle()
  expect(await box.connection.hlen(box.keys.claimed)).toBe(0)
})
