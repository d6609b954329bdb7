import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openRealDelivery } from './real-delivery.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`)

test('urgent changes that come faster than calls may be made leave all other lanes their share', {
  timeout: 300_000,
}, async () => {
  // A call takes one product.
  await using d = await openRealDelivery({ callBytes: 60, callsPerSecond: 20 })
  await d.putDue('deferred', names('deferred', 10))
  await d.putDue('echoes', names('echo', 10))
  await d.put(names('new', 10), 'new')
  const others = () => d.endpoint.calls.filter(({ ids }) => !ids[0]?.startsWith('urgent')).length
  let trickled = 0
  await waitFor(
    async () => {
      await d.put([`urgent-${trickled++}`], 'urgent')
      return others() >= 30
    },
    { withinMs: 120_000, what: () => `${others()} of 30 calls that are not urgent` },
  )
  // A tenth each, and at least as many urgent ones as the rate leaves besides.
  const { calls } = d.endpoint
  expect(calls.length).toBeLessThanOrEqual(110)
  for (const lane of ['new', 'deferred', 'echo']) {
    expect(calls.filter(({ ids }) => ids[0]?.startsWith(lane)).length, lane).toBe(10)
  }
  expect(calls.length - others()).toBeGreaterThan(30)
})

test('a process with one slot leaves the other lanes their share, too, when urgent changes came first', {
  timeout: 300_000,
}, async () => {
  await using d = await openRealDelivery({ callBytes: 60, callsPerSecond: 20, concurrency: 1 })
  let trickled = 0
  const untilCalled = (prefix: string, count: number) => {
    const calls = () => d.endpoint.calls.filter(({ ids }) => ids[0]?.startsWith(prefix)).length
    const enough = async () => {
      for (let i = 0; i < 3; i++) await d.put([`urgent-${trickled++}`], 'urgent')
      return calls() >= count
    }
    return waitFor(enough, { withinMs: 180_000, what: () => `${calls()} calls of ${prefix}` })
  }
  await untilCalled('urgent', 5)
  await d.put(names('new', 10), 'new')
  const before = d.endpoint.calls.length
  await untilCalled('new', 5)
  expect(d.endpoint.calls.length - before).toBeLessThanOrEqual(80)
})

test('urgent changes of one file share calls, so that they are not as many as changes', {
  timeout: 300_000,
}, async () => {
  await using d = await openRealDelivery({ callsPerSecond: 10_000 })
  const began = performance.now()
  const ids = names('p', 300)
  for (const id of ids) await d.put([id], 'urgent')
  await waitFor(() => d.pending() === 0, { withinMs: 180_000 })
  const elapsedMs = performance.now() - began
  expect(new Set(d.endpoint.calls.flatMap((call) => call.ids)).size).toBe(300)
  expect(d.endpoint.calls.length).toBeLessThanOrEqual(elapsedMs / 20 + 5)
})
