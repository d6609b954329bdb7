import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import { readUnderWay } from '../../src/outbox/under-way.ts'
import { idsOf, openHarness, write } from './harness.ts'

test('urgent goes first, then echoes, new, due deferred; what is not due waits', async () => {
  await using box = await openHarness()
  for (const id of ['a', 'b', 'c', 'd', 'e']) await box.put(id, `{"${id}":1}`)
  await box.deliver()
  await box.put('a', '{"a":2}', 'deferred')
  await box.makeEchoDue('e')
  await box.putDue('b', '{"b":2}')
  await box.put('f', '{"f":1}', 'new')
  await box.put('c', '{"c":2}', 'urgent')
  expect(idsOf(await box.claim())).toEqual(['c', 'e', 'f', 'b'])
  expect(await box.lanesOf('a')).toEqual([])
})

test('new products wait for others while a file is imported, and for none once it is', async () => {
  const lingerMs = 600_000
  await using box = await openHarness({ newAfterMs: lingerMs })
  const ids = Array.from({ length: 100 }, (_, n) => `p${n}`)
  const claim = 'claim-1'
  box.commitChunk({ writes: ids.map((id) => write(id, '1', 'new')), counts: { claim, add: { added: 1 } } })
  await box.settle()
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax: 10_000 })).toMatchObject({ kind: 'wait' })
  box.commitChunk({ writes: [], forgetCounts: claim })
  await box.settle()
  expect(idsOf(await box.claim()).sort()).toEqual(ids.sort())
})

test('new products wait until they fill a call, and no longer', async () => {
  const bodyBytesMax = 2_000
  await using box = await openHarness({ newAfterMs: 600_000, callBytes: bodyBytesMax })
  const put = async (name: string, count: number) => {
    const ids = Array.from({ length: count }, (_, n) => `${name}${n}`)
    box.commitChunk({ writes: ids.map((id) => write(id, `"${'x'.repeat(97)}"`, 'new')) })
    await box.settle()
  }
  await put('a', 19)
  expect(await box.outbox.lookDue()).toMatchObject({ anyDue: false })
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax })).toMatchObject({ kind: 'idle' })
  await put('b', 3)
  expect(await box.outbox.lookDue()).toMatchObject({ anyDue: true })
  expect(idsOf(await box.claim('any', bodyBytesMax))).toHaveLength(19)
  // Those that are on their way count no longer.
  expect(await box.outbox.lookDue()).toMatchObject({ anyDue: false })
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax })).toMatchObject({ kind: 'idle' })
})

test('a slot for everything leaves fresh urgent changes to the slot that serves them alone', async () => {
  await using box = await openHarness({ concurrency: 4 })
  await box.put('a', '1', 'urgent')
  await box.put('b', '1', 'new')
  // However long that took, it is fresh.
  await box.connection.zadd(box.keys.urgent, Date.now() + 60_000, 'a')
  expect(idsOf(await box.claim('any'))).toEqual(['b'])
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax: 100 })).toEqual({ kind: 'idle', nextDueMs: 100 })
  await box.connection.zadd(box.keys.urgent, Date.now() - 50, 'a')
  expect(idsOf(await box.claim('urgent'))).toEqual(['a'])
  await box.put('c', '1', 'urgent')
  await box.connection.zadd(box.keys.urgent, 1, 'c')
  expect(idsOf(await box.claim('any'))).toEqual(['c'])
})

test('a claim never exceeds the limit, brackets and commas counted, and fills up with what still fits', async () => {
  await using box = await openHarness()
  await box.put('large', `"${'x'.repeat(60)}"`)
  await box.put('other', `"${'y'.repeat(60)}"`)
  await box.put('small', `"${'z'.repeat(10)}"`)
  const claim = await box.claim('any', 2 + 62 + 1 + 12)
  expect(idsOf(claim)).toEqual(['large', 'small'])
  const exact = await box.claim('any', 2 + 62)
  expect(idsOf(exact)).toEqual(['other'])
})

test('a document that alone exceeds the limit is handed out alone', async () => {
  await using box = await openHarness()
  await box.put('huge', `"${'x'.repeat(500)}"`)
  await box.put('small', '1')
  expect(idsOf(await box.claim('any', 100))).toEqual(['huge'])
  expect(idsOf(await box.claim('any', 100))).toEqual(['small'])
})

test('an edit that is undone before it was sent leaves the outbox', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.deliver()
  await box.put('a', '2', 'urgent')
  await box.put('a', '1', 'urgent')
  expect((await box.outbox.claim({ mode: 'any', bodyBytesMax: 100 })).kind).toBe('idle')
  expect(await box.remains()).toEqual([])
  expect(box.places()).toEqual([])
})

test('an acknowledgement counts only for the document that was sent', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const claim = await box.claim()
  await box.put('a', '2')
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax: 100 })).toMatchObject({ kind: 'idle' })
  await box.outbox.acknowledge(claim.token, claim.products)
  await box.settle()
  expect(await box.lanesOf('a')).toEqual(['new'])
  expect(box.places()).toHaveLength(1)
  const second = await box.claim()
  expect(second.products[0]?.document.toString()).toBe('2')
})

test('an edit undone while the edited document is in flight is sent again', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.deliver()
  await box.put('a', '2', 'urgent')
  const second = await box.claim()
  await box.put('a', '1', 'urgent')
  await box.outbox.acknowledge(second.token, second.products)
  const third = await box.claim()
  expect(third.products.map((each) => each.document.toString())).toEqual(['1'])
})

test('a product is in one lane: a more urgent change moves it up, a less urgent one does not move it down', async () => {
  await using box = await openHarness()
  await box.put('a', '1', 'new')
  await box.deliver()
  await box.putDue('a', '2')
  const since = await box.connection.zscore(box.keys.deferred, 'a')
  await box.putDue('a', '3')
  expect(await box.connection.zscore(box.keys.deferred, 'a')).toBe(since)
  await box.put('a', '4', 'urgent')
  expect(await box.lanesOf('a')).toEqual(['urgent'])
  await box.putDue('a', '5')
  expect(await box.lanesOf('a')).toEqual(['urgent'])
})

test('an edit of a product that was never acknowledged stays in the lane of new ones', async () => {
  await using box = await openHarness()
  await box.put('a', '1', 'new')
  await box.put('a', '2', 'deferred')
  expect(await box.lanesOf('a')).toEqual(['new'])
})

test('an unknown outcome is retried and echoed; only a send that begins after the horizon settles the echo', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const lost = await box.claim()
  await box.outbox.release(lost.token, ['a' as ProductId], 'unknown')
  expect(await box.lanesOf('a')).toEqual(['new', 'echoes'])
  await box.deliver()
  expect(await box.lanesOf('a')).toEqual(['echoes'])
  expect(box.places()).toHaveLength(1)
  const answer = await box.outbox.claim({ mode: 'any', bodyBytesMax: 100 })
  expect(answer).toMatchObject({ kind: 'idle' })
  expect(answer.kind === 'idle' && answer.nextDueMs).toBeGreaterThan(100_000)
  await box.makeEchoDue('a')
  expect(idsOf(await box.deliver())).toEqual(['a'])
  expect(await box.lanesOf('a')).toEqual([])
  expect(box.places()).toEqual([])
})

test('a lease that ended counts as unknown, and the late acknowledgement counts for nothing', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const claim = await box.claim()
  expect(await box.outbox.renew(claim.token)).toBe(true)
  expect(await box.outbox.expireClaims()).toBe(0)
  await box.connection.zadd(box.keys.leases, 1, claim.token)
  expect(await box.outbox.renew(claim.token)).toBe(false)
  expect(await box.outbox.expireClaims()).toBe(1)
  await box.outbox.acknowledge(claim.token, claim.products)
  expect(await box.lanesOf('a')).toEqual(['new', 'echoes'])
  await box.settle()
  expect(box.places()).toHaveLength(1)
})

test('an edit that was in a failed call is sent back when it is undone: the endpoint may have taken it', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.deliver()
  await box.put('a', '2', 'urgent')
  const failed = await box.claim()
  await box.outbox.release(failed.token, ['a' as ProductId], 'sent')
  await box.put('a', '1', 'urgent')
  const undone = await box.claim()
  expect(undone.products.map((each) => each.document.toString())).toEqual(['1'])
  await box.outbox.acknowledge(undone.token, undone.products)
  await box.settle()
  expect(await box.remains()).toEqual([])
  expect(box.places()).toEqual([])
})

test.each(['acknowledged', 'sent', 'unknown'] as const)(
  'a call whose claim was lost meanwhile and that ends as %s is echoed',
  async (outcome) => {
    await using box = await openHarness()
    await box.put('a', '1')
    const lost = await box.claim()
    // What a Redis that lost its last writes, or another process that found the lease ended, leaves behind.
    await box.connection.del(box.keys.claimed, box.keys.leases)
    await box.put('a', '2', 'urgent')
    const newer = await box.claim()
    await box.outbox.acknowledge(newer.token, newer.products)
    expect(await box.lanesOf('a')).toEqual([])
    if (outcome === 'acknowledged') await box.outbox.acknowledge(lost.token, lost.products)
    else await box.outbox.release(lost.token, ['a' as ProductId], outcome)
    expect(await box.lanesOf('a')).toEqual(['echoes'])
    await box.makeEchoDue('a')
    expect((await box.claim()).products[0]?.document.toString()).toBe('2')
  },
)

test('the last settled product gives up the lease', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.put('b', '1')
  const claim = await box.claim()
  await box.outbox.acknowledge(claim.token, claim.products.slice(0, 1))
  expect(await box.connection.zcard(box.keys.leases)).toBe(1)
  await box.outbox.release(claim.token, ['b' as ProductId], 'not-sent')
  expect(await box.connection.zcard(box.keys.leases)).toBe(0)
})

test('a refused product is a dead letter until a newer document comes', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const claim = await box.claim()
  const refusal = { status: 400, requestId: 'r', reason: 'no image' }
  await box.outbox.reject(
    claim.token,
    claim.products.map((product) => ({ ...product, ...refusal })),
  )
  await box.settle()
  expect(box.deadIds()).toEqual(['a'])
  expect(await box.remains()).toEqual([])
  await box.put('a', '2', 'urgent')
  expect(box.deadIds()).toEqual([])
  expect(idsOf(await box.claim())).toEqual(['a'])
})

test('an unknown outcome is echoed even when the product is refused before the horizon and its edit is undone', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.deliver()
  await box.put('a', '2', 'urgent')
  await box.outbox.release((await box.claim()).token, ['a' as ProductId], 'unknown')
  const refused = await box.claim()
  const refusal = { status: 400, requestId: undefined, reason: 'no' }
  await box.outbox.reject(
    refused.token,
    refused.products.map((product) => ({ ...product, ...refusal })),
  )
  await box.put('a', '1', 'urgent')
  await box.deliver()
  expect(await box.lanesOf('a')).toEqual(['echoes'])
  await box.makeEchoDue('a')
  expect(idsOf(await box.claim())).toEqual(['a'])
})

test('a product whose document changed while the old one was refused is not buried', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const claim = await box.claim()
  await box.put('a', '2', 'urgent')
  await box.outbox.reject(
    claim.token,
    claim.products.map((product) => ({ ...product, status: 400, requestId: undefined, reason: 'no' })),
  )
  await box.settle()
  expect(box.deadIds()).toEqual([])
  expect(idsOf(await box.claim())).toEqual(['a'])
})

test('twenty refused in a row without being named pause the catalog and bury nothing; an acceptance starts the count anew', async () => {
  await using box = await openHarness()
  const refuse = async (id: string) => {
    const claim = await box.claim()
    expect(idsOf(claim)).toEqual([id])
    const letters = claim.products.map((product) => ({
      ...product,
      status: 400,
      requestId: undefined,
      reason: 'no',
    }))
    return box.outbox.rejectUnnamed(claim.token, letters)
  }
  for (let i = 0; i < 19; i += 1) {
    await box.put(`p${i}`, '1')
    expect(await refuse(`p${i}`)).toBe('rejected')
  }
  await box.put('good', '1')
  await box.deliver()
  for (let i = 0; i < 20; i += 1) {
    await box.put(`q${i}`, '1')
    expect(await refuse(`q${i}`)).toBe(i === 19 ? 'refuses-everything' : 'rejected')
  }
  await box.settle()
  expect(box.deadIds()).toHaveLength(19)
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax: 100 })).toEqual({
    kind: 'paused',
    reasons: ['refuses-everything'],
  })
  await box.outbox.resume('refuses-everything', 'operator')
  expect(idsOf(await box.claim())).toHaveLength(20)
})

test('the rate of calls holds over all claims; urgent ones may run a little ahead', async () => {
  await using box = await openHarness({ callsPerSecond: 2 })
  for (let i = 0; i < 20; i += 1) await box.put(`p${i}`, '1', i < 10 ? 'new' : 'urgent')
  const kinds: string[] = []
  for (let i = 0; i < 4; i += 1) kinds.push((await box.outbox.claim({ mode: 'any', bodyBytesMax: 4 })).kind)
  expect(kinds.slice(0, 2)).toEqual(['claimed', 'claimed'])
  expect(kinds.slice(2)).toEqual(['wait', 'wait'])
  expect(idsOf(await box.claim('urgent', 4))).toHaveLength(1)
})

test('a hold stops every claim and is never shortened', async () => {
  await using box = await openHarness()
  await box.put('a', '1', 'urgent')
  await box.outbox.holdCalls(60_000, 'throttled')
  await box.outbox.holdCalls(10, 'failing')
  const answer = await box.outbox.claim({ mode: 'urgent', bodyBytesMax: 100 })
  expect(answer.kind === 'wait' && answer.forMs).toBeGreaterThan(50_000)
  expect(await box.outbox.lookDue()).toMatchObject({ urgentDue: false, anyDue: false })
})

test('a learned limit bounds claims', async () => {
  await using box = await openHarness()
  await box.put('a', `"${'1'.repeat(40_000)}"`)
  await box.put('b', `"${'2'.repeat(40_000)}"`)
  await box.outbox.learnBodyBytes(70_000)
  expect(idsOf(await box.claim())).toEqual(['a'])
})

test('a change is stored and offered together even when Redis has forgotten its scripts', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.connection.script('FLUSH')
  await box.put('b', '1')
  expect(idsOf(await box.claim())).toEqual(['a', 'b'])
})

test('an edit undone while the acknowledgement of the edited document is not drained yet is sent', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.deliver()
  await box.put('a', '2', 'urgent')
  const edited = await box.claim()
  await box.outbox.acknowledge(edited.token, edited.products)
  // The pump has read the place before the acknowledgement came.
  const document = Buffer.from('1')
  await box.connection.hset(box.keys.documents, 'a', document)
  await box.scripts.run(box.connection, 'offer', [0, 'a', digestDocument(document), 'u', 'u', 0, 1])
  expect((await box.claim()).products.map((each) => each.document.toString())).toEqual(['1'])
})

test('a refusal in a row that an acceptance ends is a dead letter like any other', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const claim = await box.claim()
  const letters = claim.products.map((product) => {
    return { ...product, status: 400, requestId: undefined, reason: 'no' }
  })
  await box.outbox.rejectUnnamed(claim.token, letters)
  await box.settle()
  expect(box.deadIds()).toEqual(['a'])
  await box.put('b', '1')
  await box.deliver()
  expect(box.deadIds()).toEqual(['a'])
  expect(box.places()).toEqual([])
  expect(await box.remains()).toEqual([])
})

test('a Redis that ends while it is asked of a product is one failure, of who asked', async () => {
  await using box = await openHarness()
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const asked = readUnderWay(box.connection, box.keys, 'a' as ProductId)
  box.connection.disconnect()
  await expect(asked).rejects.toThrow('Connection is closed')
  await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
