import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import type { ClaimMode } from '../../src/outbox/model.ts'
import { waitFor } from '../support/events.ts'
import { deferred, type Harness, openHarness, write } from './harness.ts'

/** Each call takes one product. */
const bodyBytesMax = 3
const perLane = 60

/** Products of every lane but the urgent one wait, and are due. */
async function putBacklog(box: Harness): Promise<void> {
  const named = (prefix: string) => Array.from({ length: perLane }, (_, index) => `${prefix}-${index}`)
  box.commitAll([...named('deferred'), ...named('echo')].map((id) => write(id, '0', 'new')))
  await box.settle()
  await box.deliver()
  box.commitAll(named('new').map((id) => write(id, '1', 'new')))
  box.commitAll(
    named('deferred').map((id) => write(id, '1', 'deferred')),
    deferred.afterMs,
  )
  await box.connection.zadd(box.keys.requests, ...named('echo').flatMap((id) => [1, id]))
  await box.settle()
}

/** Claims in these modes by turns, while urgent changes never end; answers of which lane each call was. */
async function callLanes(box: Harness, { modes, calls }: { modes: readonly ClaimMode[]; calls: number }) {
  const lanes: string[] = []
  for (let asked = 0; lanes.length < calls; asked += 1) {
    for (let each = 0; (await box.connection.zcard(box.keys.urgent)) < 3; each += 1) {
      await box.put(`urgent-${asked}-${each}`, '1', 'urgent')
    }
    const mode = modes[asked % modes.length] ?? 'any'
    const answer = await box.outbox.claim({ mode, bodyBytesMax })
    if (answer.kind !== 'claimed') continue
    lanes.push(String(answer.claim.products[0]?.productId).replace(/-.*/, ''))
    await box.outbox.acknowledge(answer.claim.token, answer.claim.products)
  }
  return lanes
}

const limits = [
  ['the call rate', { callsPerSecond: 50, concurrency: 4 }, ['urgent', 'any', 'any', 'any'], 0.4],
  // Fresh urgent changes are left to the one slot that serves them alone.
  ['the slots', { callsPerSecond: 10_000, concurrency: 4 }, ['urgent', 'any', 'any', 'any'], 0.02],
  ['one slot alone', { callsPerSecond: 10_000, concurrency: 1 }, ['any'], 0.4],
] as const

test.each(limits)(
  'urgent changes without end leave a tenth of the calls to each other lane: limited by %s',
  { timeout: 300_000 },
  async (_, options, modes, urgentMin) => {
    await using box = await openHarness(options)
    await putBacklog(box)
    const calls = 150
    const lanes = await callLanes(box, { modes, calls })
    const share = (lane: string) => lanes.filter((each) => each === lane).length / calls
    for (const lane of ['new', 'deferred', 'echo']) expect(share(lane), lane).toBeGreaterThanOrEqual(0.1)
    expect(share('urgent')).toBeGreaterThanOrEqual(urgentMin)
  },
)

test('a call that was waited for by one is open to all others, and is made once', async () => {
  await using box = await openHarness({ callsPerSecond: 20 })
  for (let i = 0; i < 200; i += 1) await box.put(`u${i}`, '1', 'urgent')
  const began = performance.now()
  let calls = 0
  for (; calls < 30; calls += 1) {
    await waitFor(async () => {
      const asked = [
        () => box.outbox.claim({ mode: 'urgent', bodyBytesMax }),
        () => box.outbox.claim({ mode: 'any', bodyBytesMax }),
        () => box.outbox.admitCall(),
      ]
      for (const ask of asked) if (/^(claimed|admitted)$/.test((await ask()).kind)) return true
      return false
    })
  }
  // All kinds together keep the rate, but for what may run ahead.
  expect(performance.now() - began).toBeGreaterThan(((calls - 7) / 20) * 1_000)
})

/** Sets the time when a change became due, and that of the last urgent call, to now by Redis' clock. */
const asOfNow = `local time = redis.call('TIME')
  local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  redis.call('ZADD', KEYS[1], 'XX', now, ARGV[1])
  return redis.call('HSET', KEYS[2], 'urgentAt', now)`

test('while calls run urgent changes wait a moment to share one; with nothing else to do they go at once', async () => {
  await using box = await openHarness({ concurrency: 2 })
  await box.put('idle', '1', 'urgent')
  expect((await box.outbox.claim({ mode: 'urgent', bodyBytesMax })).kind).toBe('claimed')
  // The call of `idle` runs. Both times are set right before the claim, however long `put` took. If even that is too slow,
  // it is tried again.
  const { urgent, pace } = box.keys
  let last = ''
  await waitFor(async () => {
    last = `early-${performance.now()}`
    await box.put(last, '1', 'urgent')
    const both = box.connection.eval(asOfNow, 2, urgent, pace, last)
    const answer = await box.outbox.claim({ mode: 'urgent', bodyBytesMax: 1_000 })
    await both
    return answer.kind === 'wait' && answer.forMs <= 20
  })
  await box.put('late', '1', 'urgent')
  const claim = await waitFor(async () => {
    const answer = await box.outbox.claim({ mode: 'urgent', bodyBytesMax: 1_000 })
    return answer.kind === 'claimed' && answer.claim
  })
  expect(claim.products.map(({ productId }) => productId)).toEqual([last, 'late'] as ProductId[])
})

test('new products of a running import wait until they fill a call, until it ends', async () => {
  await using box = await openHarness()
  const ids = Array.from({ length: 150 }, (_, n) => `p${n}`)
  const counts = { claim: 'a file', add: { added: ids.length } }
  const bodyBytesMax = 4_000
  box.commitChunk({ writes: ids.slice(0, 120).map((id) => write(id, 'x'.repeat(20), 'new')), counts })
  await box.settle()
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax })).toEqual({ kind: 'wait', forMs: 50 })
  box.commitChunk({ writes: [write('urgent', '{}', 'urgent')] })
  await box.settle()
  expect((await box.claim('urgent', bodyBytesMax)).products).toHaveLength(1)
  box.commitChunk({ writes: ids.slice(120).map((id) => write(id, 'x'.repeat(100), 'new')) })
  await box.settle()
  expect((await box.claim('any', bodyBytesMax)).documentBytes).toBeGreaterThan(bodyBytesMax * 0.97 - 150)
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax })).toMatchObject({ kind: 'wait' })
  box.commitChunk({ writes: [], forgetCounts: counts.claim })
  await box.settle()
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax })).toMatchObject({ kind: 'claimed' })
})

test('a lone urgent change waits for no others while other calls run', async () => {
  await using box = await openHarness({ concurrency: 4 })
  await box.put('a', '1')
  await box.claim()
  await box.put('b', '1', 'urgent')
  const answer = await box.outbox.claim({ mode: 'urgent', bodyBytesMax: 2_000_000 })
  expect(answer.kind).toBe('claimed')
})
