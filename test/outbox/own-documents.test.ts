import { expect, test } from 'vitest'
import { type Harness, openHarness } from './harness.ts'

/** A process that imports and delivers, which reads documents in its mirror, beside `outbox`, which has none. */
function openOwn(box: Harness) {
  const loop = box.openLoop({ isDelivering: true })
  const own = box.openOutbox({ mirror: () => box.mirror })
  return {
    async put(text: string) {
      box.commit('a', text, 'urgent')
      await box.settle(loop)
    },
    settle: () => box.settle(loop),
    documents: () => box.connection.hkeys(box.keys.documents),
    async claim(outbox = own) {
      const answer = await outbox.claim({ mode: 'any', bodyBytesMax: 2_000_000 })
      if (answer.kind !== 'claimed') throw new Error(`expected a claim, got ${JSON.stringify(answer)}`)
      const { token, products } = answer.claim
      return { token, products, texts: products.map(({ document }) => document.toString()) }
    },
    own,
  }
}

test('who has the mirror reads documents there, and Redis needs none', async () => {
  await using box = await openHarness()
  const process = openOwn(box)
  await process.put('1')
  expect(await process.documents()).toEqual([])
  const claim = await process.claim()
  expect(claim.texts).toEqual(['1'])
  await process.own.acknowledge(claim.token, claim.products)
  await process.settle()
  expect([box.places(), await box.remains()]).toEqual([[], []])
})

test('a document that came after the offer is sent once, and settles the one that was offered', async () => {
  await using box = await openHarness()
  const process = openOwn(box)
  await process.put('1')
  box.commit('a', '2', 'urgent')
  const claim = await process.claim()
  expect(claim.texts).toEqual(['2'])
  await process.own.acknowledge(claim.token, claim.products)
  expect(await box.lanesOf('a')).toEqual([])
  await process.settle()
  expect([box.places(), await box.remains()]).toEqual([[], []])
})

test('a document that came after the offer becomes a dead letter when it is refused', async () => {
  await using box = await openHarness()
  const process = openOwn(box)
  await process.put('1')
  box.commit('a', '2', 'urgent')
  const claim = await process.claim()
  const refusals = claim.products.map((each) => ({ ...each, status: 400, requestId: undefined, reason: '' }))
  await process.own.reject(claim.token, refusals)
  expect(await box.lanesOf('a')).toEqual([])
  expect(await box.connection.hkeys(box.keys.dead)).toEqual(['a'])
})

test('who has no mirror gets the documents that it asks for, and from then on all of them', async () => {
  await using box = await openHarness()
  const process = openOwn(box)
  await process.put('1')
  expect((await process.claim(box.outbox)).texts).toEqual([])
  expect(await box.lanesOf('a')).toEqual(['requests'])
  await process.settle()
  expect(await box.lanesOf('a')).toEqual(['urgent', 'echoes'])
  const claim = await process.claim(box.outbox)
  expect(claim.texts).toEqual(['1'])
  await box.outbox.acknowledge(claim.token, claim.products)
  await process.put('2')
  expect(await process.documents()).toEqual(['a'])
})

test('an echo that is not due keeps its time when its product waits for a document', async () => {
  await using box = await openHarness()
  const process = openOwn(box)
  await process.put('1')
  const due = String(Date.now() + 60_000)
  await box.connection.zadd(box.keys.echoes, due, 'a')
  await process.claim(box.outbox)
  await process.settle()
  expect(await box.connection.zscore(box.keys.echoes, 'a')).toBe(due)
  expect(await box.lanesOf('a')).toEqual(['urgent', 'echoes'])
})

test('an offer without its document leaves no older one beside it', async () => {
  await using box = await openHarness()
  const process = openOwn(box)
  await box.connection.hset(box.keys.pace, 'readAt', Date.now())
  await process.put('1')
  expect(await process.documents()).toEqual(['a'])
  await box.connection.hdel(box.keys.pace, 'readAt')
  await process.put('2')
  expect(await process.documents()).toEqual([])
})
