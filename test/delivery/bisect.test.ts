import fc from 'fast-check'
import { expect, test } from 'vitest'
import { halveByBytes, halveByCount, packParts, partBytes, shuffle } from '../../src/delivery/bisect.ts'
import type { ProductId } from '../../src/lib/brand.ts'
import { digestDocument } from '../../src/outbox/digest.ts'
import { document, openHarness } from './harness.ts'

function toPart(lengths: readonly number[]) {
  return lengths.map((length, index) => {
    const bytes = Buffer.alloc(length, 'x')
    return { productId: `p${index}` as ProductId, document: bytes, digest: digestDocument(bytes) }
  })
}

test('halves and packed parts hold every product once, in order, and none is empty', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 60 })
  fc.assert(
    fc.property(lengths, fc.integer({ min: 100, max: 1_000 }), (given, limit) => {
      const part = toPart(given)
      for (const parts of [halveByCount(part), halveByBytes(part), packParts(part, limit)]) {
        expect(parts.flat()).toEqual(part)
        expect(parts.every((each) => each.length > 0)).toBe(true)
      }
      expect(halveByCount(part).map(({ length }) => length)).toEqual([
        Math.ceil(part.length / 2),
        Math.floor(part.length / 2),
      ])
      expect(halveByBytes(part).length).toBe(2)
      for (const each of packParts(part, limit)) {
        if (each.length > 1) expect(partBytes(each)).toBeLessThanOrEqual(limit)
      }
    }),
  )
})

test('a shuffled part holds every product once', () => {
  fc.assert(
    fc.property(
      fc.nat(60),
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      (length, numbers) => {
        const part = toPart(Array.from({ length }, () => 1))
        const shuffled = shuffle(part, () => numbers.next().value)
        const names = (products: typeof shuffled) => products.map(({ productId }) => productId).sort()
        expect(names(shuffled)).toEqual(names(part))
      },
    ),
  )
})

test('each refused product costs at most 2⌈log₂ n⌉+1 further calls, and none of its neighbours is lost', async () => {
  const poison = new Map<string, 'unnamed' | 'named'>()
  await using h = await openHarness(({ ids }) => {
    const bad = ids.filter((id) => poison.has(id))
    const named = bad.filter((id) => poison.get(id) === 'named')
    if (bad.length === 0) return {}
    if (named.length === 0) return { status: 422, body: 'something is wrong' }
    return {
      status: 400,
      body: JSON.stringify({ errors: named.map((product_id) => ({ product_id, errors: 'bad' })) }),
    }
  })
  let round = 0
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      // Fewer than 20, so that the endpoint never seems to refuse everything.
      fc.array(fc.tuple(fc.nat(199), fc.boolean()), { maxLength: 19 }),
      async (count, picks) => {
        round += 1
        poison.clear()
        const ids = Array.from({ length: count }, (_, index) => `r${round}-${index}`)
        for (const [pick, named] of picks) poison.set(ids[pick % count] ?? '', named ? 'named' : 'unnamed')
        const before = h.endpoint.calls.length
        h.outbox.entries.clear()
        for (const id of ids) h.outbox.offer(id, document(id))
        await h.run()

        const unnamed = [...poison.values()].filter((kind) => kind === 'unnamed').length
        const calls = h.endpoint.calls.length - before
        const perProduct = 2 * Math.ceil(Math.log2(count)) + 1
        // All that one answer names cost one call together: the rest is sent again without them.
        const forNamed = unnamed < poison.size ? 1 : 0
        const allRefused = poison.size === count ? 1 : 0
        expect(calls).toBeLessThanOrEqual(1 + unnamed * perProduct + forNamed)
        if (unnamed === 0) expect(calls).toBe(1 + forNamed - (forNamed && allRefused))
        expect([...h.outbox.dead.keys()].sort()).toEqual([...poison.keys()].sort())
        expect(h.outbox.acknowledged.length).toBe(count - poison.size)
        expect(h.outbox.pauses.size).toBe(0)
      },
    ),
    { numRuns: 60 },
  )
  expect(h.endpoint.overlapping.size).toBe(0)
})
