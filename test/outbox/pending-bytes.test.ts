import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { deferred, type Harness, idsOf, openHarness, write } from './harness.ts'

const callBytes = 2_000_000
/** So much that 8,000,000 bytes, four calls, hold twenty of them. */
const text = `"${'x'.repeat(399_998)}"`

const bytesOf = async (box: Harness) => {
  const counts = await box.connection.hgetall(box.keys.bytes)
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== '0'))
}

/** What the scripts should have counted. */
async function countedAnew(box: Harness): Promise<Record<string, string>> {
  const counts: Record<string, number> = {}
  for (const [id, held] of Object.entries(await box.connection.hgetallBuffer(box.keys.pending))) {
    const purpose = String.fromCharCode(held[16] ?? 0)
    counts[purpose] = (counts[purpose] ?? 0) + (await box.connection.hstrlen(box.keys.documents, id))
  }
  return Object.fromEntries(Object.entries(counts).map(([lane, count]) => [lane, String(count)]))
}

function commitMany(box: Harness, prefix: string, lane: 'urgent' | 'new' | 'deferred', agoMs = 0): void {
  const ids = Array.from({ length: 30 }, (_, index) => `${prefix}-${index}`)
  box.commitAll(
    ids.map((id) => write(id, text, lane)),
    agoMs,
  )
}

test('each lane stops at its limit, at least four calls, and goes on as it is delivered; nothing is left', async () => {
  await using box = await openHarness({ pendingBytes: 1 })
  commitMany(box, 'new', 'new')
  await box.settle()
  expect(await bytesOf(box)).toEqual({ n: String(4 * callBytes) })
  // A full lane keeps no other one waiting.
  commitMany(box, 'urgent', 'urgent')
  await box.settle()
  expect(await bytesOf(box)).toEqual({ n: String(4 * callBytes), u: String(4 * callBytes) })
  const sent = new Set<string>()
  while (box.places().length > 0) for (const id of idsOf(await box.deliver())) sent.add(id)
  expect(sent.size).toBe(60)
  expect(await bytesOf(box)).toEqual({})
  expect(await box.remains()).toEqual([])
})

test('deferred changes that are not due take nothing, however many', async () => {
  await using box = await openHarness({ pendingBytes: 1 })
  commitMany(box, 'a', 'new')
  await box.settle()
  while (box.places().length > 0) await box.deliver()
  const ids = Array.from({ length: 30 }, (_, index) => `a-${index}`)
  box.commitAll(ids.map((id) => write(id, `"${id}"`, 'deferred')))
  await box.put('now', '1', 'urgent')
  expect(await bytesOf(box)).toEqual({ u: '1' })
  box.commitAll(
    ids.map((id) => write(id, `"${id} again"`, 'deferred')),
    deferred.afterMs,
  )
  expect(idsOf(await box.deliver('urgent'))).toEqual(['now'])
})

test('bytes follow a document through edits, lanes, claims, refusals and echoes', async () => {
  await using box = await openHarness()
  const check = async () => expect(await bytesOf(box)).toEqual(await countedAnew(box))
  await box.put('a', '1')
  await box.put('a', '"longer"')
  await check()
  await box.put('a', '"longer still"', 'urgent')
  await check()
  const claim = await box.claim()
  await box.put('a', '2', 'urgent')
  await check()
  await box.outbox.release(claim.token, ['a' as ProductId], 'unknown')
  await check()
  const refused = await box.claim()
  const refusal = { status: 400, requestId: undefined, reason: 'no' }
  await box.outbox.rejectUnnamed(
    refused.token,
    refused.products.map((product) => ({ ...product, ...refusal })),
  )
  await box.settle()
  expect(await bytesOf(box)).toEqual({ r: '1' })
  await check()
  await box.put('b', '3')
  await box.deliver()
  expect(await bytesOf(box)).toEqual({})
  expect(box.deadIds()).toEqual(['a'])
  await box.makeEchoDue('a')
  expect(await bytesOf(box)).toEqual({ e: '1' })
  await check()
})

test('echoes that are due at once get their documents in portions', async () => {
  await using box = await openHarness()
  commitMany(box, 'a', 'new')
  await box.settle()
  while (box.places().length > 0) await box.deliver()
  const ids = Array.from({ length: 30 }, (_, index) => `a-${index}`)
  await box.connection.zadd(box.keys.requests, ...ids.flatMap((id) => [1, id]))
  await box.settle()
  expect(await bytesOf(box)).toEqual({ e: String(4 * callBytes) })
  const sent = new Set<string>()
  while ((await box.connection.hlen(box.keys.documents)) > 0) {
    for (const id of idsOf(await box.deliver())) sent.add(id)
  }
  expect(sent.size).toBe(30)
  expect(await box.remains()).toEqual([])
})

test('refusals in a row that the mirror knows already are taken back with their documents', async () => {
  await using box = await openHarness()
  for (let i = 0; i < 20; i += 1) {
    await box.put(`p${i}`, `"${i}"`)
    const claim = await box.claim()
    const letters = claim.products.map((product) => {
      return { ...product, status: 400, requestId: undefined, reason: 'no' }
    })
    await box.outbox.rejectUnnamed(claim.token, letters)
    await box.settle()
    expect(box.deadIds()).toHaveLength(i === 19 ? 0 : i + 1)
  }
  await box.outbox.resume('refuses-everything', 'operator')
  expect(idsOf(await box.deliver())).toHaveLength(20)
  expect(box.places()).toEqual([])
  expect(await box.remains()).toEqual([])
})
