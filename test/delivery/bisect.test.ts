import fc from 'fast-check'
import { expect, test } from 'vitest'
import { document, openHarness } from './harness.ts'

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
        h.outbox.clear()
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
