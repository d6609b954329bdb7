import { describe, expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { leaseMs } from '../../src/outbox/model.ts'
import { waitFor } from '../support/events.ts'
import { idsOf, openHarness, write } from './harness.ts'
import { setClockBack } from './set-clock-back.ts'

describe('a clock of Redis that was set back costs a moment, not the time by which it was', () => {
  const hourMs = 3_600_000

  test('the rate of calls', async () => {
    await using box = await openHarness({ callsPerSecond: 50 })
    for (let i = 0; i < 9; i += 1) await box.put(`p${i}`, '1', 'urgent')
    const claim = (mode: 'any' | 'urgent') => () => box.outbox.claim({ mode, bodyBytesMax: 3 })
    for (const ask of [claim('any'), claim('urgent'), () => box.outbox.admitCall()]) {
      await waitFor(async () => (await claim('any')()).kind === 'claimed')
      await setClockBack(box.connection, box.keys, hourMs)
      await box.outbox.expireClaims()
      await waitFor(async () => /^(claimed|admitted)$/.test((await ask()).kind))
    }
  })

  test('a hold lasts no longer than it was asked for', async () => {
    await using box = await openHarness()
    await box.put('a', '1')
    await box.outbox.holdCalls(300, 'throttled')
    await setClockBack(box.connection, box.keys, hourMs)
    // A further one does not take the old one for longer.
    await box.outbox.holdCalls(400, 'failing')
    expect(await box.connection.hget(box.keys.pace, 'untilReason')).toBe('failing')
    await setClockBack(box.connection, box.keys, hourMs)
    await waitFor(async () => {
      await box.outbox.expireClaims()
      return (await box.outbox.lookDue()).anyDue
    })
    expect(idsOf(await box.claim())).toEqual(['a'])
  })

  test('products of every lane are due, and claims end with their leases', async () => {
    await using box = await openHarness({ concurrency: 2 })
    await box.put('d', '0')
    await box.deliver()
    await box.putDue('d', '1')
    await box.put('n', '1')
    await box.put('lost', '1')
    const { token } = await box.claim('any', 10)
    await box.put('u', '1', 'urgent')
    await setClockBack(box.connection, box.keys, hourMs)
    expect(await box.outbox.expireClaims()).toBe(0)
    const answer = await waitFor(async () => {
      const asked = await box.outbox.claim({ mode: 'urgent', bodyBytesMax: 100 })
      return asked.kind === 'wait' ? undefined : asked
    })
    expect(answer).toMatchObject({ kind: 'claimed', claim: { products: [{ productId: 'u' }] } })
    const leaseEnds = Number(await box.connection.zscore(box.keys.leases, token))
    expect(leaseEnds - Date.now()).toBeLessThanOrEqual(leaseMs)
    await box.connection.zadd(box.keys.leases, 1, token)
    expect(await box.outbox.expireClaims()).toBeGreaterThan(0)
    await setClockBack(box.connection, box.keys, hourMs)
    await box.outbox.expireClaims()
    for (const lane of ['urgent', 'new', 'deferred', 'echoes'] as const) {
      const [, last] = await box.connection.zrange(box.keys[lane], '-1', '-1', 'WITHSCORES')
      // The horizon, a time-out and a lease.
      expect(Number(last ?? 0) - Date.now()).toBeLessThanOrEqual(165_000)
    }
  })

  test('more products than one script looks at', async () => {
    await using box = await openHarness()
    const ids = Array.from({ length: 5_000 }, (_, index) => `p${index}`)
    box.commitAll(ids.map((id) => write(id, '1', 'urgent')))
    await box.settle()
    await setClockBack(box.connection, box.keys, hourMs)
    await box.outbox.expireClaims()
    expect(idsOf(await box.claim())).toHaveLength(5_000)
  })

  test('refused credentials are tried again, and a probe that went well counts for a minute', async () => {
    await using box = await openHarness()
    await box.outbox.takeProbeTurn(5_000)
    await box.outbox.resume('credentials', 'probed')
    await setClockBack(box.connection, box.keys, hourMs)
    await box.outbox.expireClaims()
    expect(await box.connection.pttl(box.keys.probeTurn)).toBeLessThanOrEqual(30_000)
    expect(await box.connection.pttl(box.keys.probed)).toBeLessThanOrEqual(60_000)
  })

  test('an echo that is not due yet outlives the acknowledgement of a claim that began before', async () => {
    await using box = await openHarness()
    await box.put('a', '1')
    const lost = await box.claim()
    await box.connection.zadd(box.keys.leases, 1, lost.token)
    await box.outbox.expireClaims()
    await box.connection.zadd(box.keys.echoes, 1, 'a')
    const claim = await box.claim()
    await setClockBack(box.connection, box.keys, hourMs)
    await box.connection.zrem(box.keys.echoes, 'a')
    await box.outbox.release(lost.token, ['a' as ProductId], 'unknown')
    await box.outbox.acknowledge(claim.token, claim.products)
    expect(await box.lanesOf('a')).toEqual(['echoes'])
  })

  test('a process with the same mirror that has ended is not waited for', async () => {
    await using box = await openHarness()
    await box.put('a', '1')
    const { guard } = box.keys
    await box.connection.hset(guard, 'holder', 'host-2 /state/main', 'leaseEnds', Date.now() + hourMs)
    await box.settle(box.openLoop())
    expect(await box.connection.hget(guard, 'holder')).toBe('host-1 /state/main')
  })
})
