import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { seededRandom } from '../fault/random.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { document, openHarness } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const manyIds = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)

test('all that is due goes out in one call, and is acknowledged', async () => {
  await using h = await openHarness()
  h.offer(['a', 'b', 'c'])
  expect(await h.run()).toMatchObject({ kind: 'idle', calls: 1 })
  expect(h.endpoint.calls.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']])
  expect(h.outbox.acknowledged).toEqual(['a', 'b', 'c'])
  expect(h.outbox.leases).toEqual([])
  expect(h.outbox.counted).toEqual([{ bodyBytes: h.endpoint.calls[0]?.bytes, products: 3, answered: true }])
})

test('a ticket ends at once where Redis belongs to another installation, which may need it', async () => {
  await using h = await openHarness()
  h.offer(['a'])
  await h.outbox.shut()
  // No time passes: it would wait for ever.
  expect(await h.run()).toEqual({ kind: 'shut', forMs: 500, calls: 0 })
})

test('the call is written down before it is sent', async () => {
  const seen: unknown[] = []
  await using h = await openHarness(() => {
    seen.push(h.logged.map(({ event, ids }) => [event, ids]))
    return {}
  })
  h.offer(['a', 'b'])
  await h.run()
  expect(seen).toEqual([[['begin', ['a', 'b']]]])
  expect(h.logged.at(-1)).toEqual({ event: 'end', outcome: 'acknowledge' })
})

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
])('an answer that comes as %s is read', async (encoding, compress) => {
  const headers = { 'content-encoding': encoding }
  const errors = [{ product_id: 'b', errors: 'no image' }]
  await using h = await openHarness(({ ids }) => {
    const refused = { type: 'has_errors', message: '', errors }
    if (ids.includes('b')) return { status: 400, headers, body: compress(JSON.stringify(refused)) }
    return { headers, body: compress('{}') }
  })
  h.offer(['a', 'b'])
  await h.run()
  expect(h.outbox.acknowledged.length).toBe(1)
  expect(h.outbox.dead.get('b')?.reason).toBe('no image')
  expect(h.endpoint.calls.length).toBe(2)
})

test('an answer that grows beyond what is read counts for nothing', async () => {
  const headers = { 'content-encoding': 'gzip' }
  const body = gzipSync(`{${' '.repeat(50_000_000)}}`)
  await using h = await openHarness(() => ({ headers, body }))
  h.offer(['a'])
  await h.runUntilHeld()
  expect(h.outbox.pending).toEqual(['a'])
})

describe('sizes', () => {
  test('no call is longer than it may be, to the byte', async () => {
    const pair = JSON.stringify([
      JSON.parse(document('p0').toString()),
      JSON.parse(document('p1').toString()),
    ])
    await using h = await openHarness(undefined, { callBytes: pair.length })
    h.offer(manyIds(7))
    await h.run()
    expect(h.endpoint.calls.map(({ bytes }) => bytes)).toEqual([
      pair.length,
      pair.length,
      pair.length,
      document('p6').length + 2,
    ])
  })

  test('a claim that is longer than a call may be goes out in several', async () => {
    await using h = await openHarness(undefined, { callBytes: 300 })
    const claim = h.outbox.claim.bind(h.outbox)
    h.outbox.claim = (options) => claim({ ...options, bodyBytesMax: 100_000 })
    h.offer(manyIds(30))
    expect(await h.run()).toMatchObject({ calls: 1 })
    expect(Math.max(...h.endpoint.calls.map(({ bytes }) => bytes))).toBeLessThanOrEqual(300)
    expect(h.outbox.acknowledged.length).toBe(30)
    expect(h.outbox.learned).toBeUndefined()
  })

  test('a document that alone exceeds a call is a dead letter and never sent', async () => {
    await using h = await openHarness(undefined, { callBytes: 200 })
    h.outbox.offer('big', document('big', 'x'.repeat(200)), 'urgent')
    h.offer(['small'])
    await h.run()
    expect(h.endpoint.calls.flatMap(({ ids }) => ids)).toEqual(['small'])
    expect(h.outbox.dead.get('big')?.reason).toMatch(/needs a call of \d+ bytes, more than the 200/)
  })

  test('a 413 halves the call and the limit is remembered', async () => {
    const limit = 150_000
    await using h = await openHarness(({ bytes }) => ({ status: bytes > limit ? 413 : 200 }))
    h.offer(manyIds(200), 'x'.repeat(2_000))
    await h.run()
    expect(h.outbox.acknowledged.length).toBe(200)
    expect(h.outbox.learned).toBeLessThanOrEqual(limit)
    const refused = h.endpoint.calls.filter(({ bytes }) => bytes > limit).length
    h.offer(manyIds(200), 'y'.repeat(2_000))
    await h.run()
    expect(h.endpoint.calls.filter(({ bytes }) => bytes > limit).length).toBe(refused)
    expect(h.outbox.dead.size).toBe(0)
  })

  test('a single product that the endpoint finds too large is a dead letter', async () => {
    await using h = await openHarness(({ bytes }) => ({ status: bytes > 500 ? 413 : 200 }))
    h.offer(['a', 'b'])
    h.offer(['big'], 'x'.repeat(600))
    h.offer(['c', 'd'])
    await h.run()
    expect(h.outbox.acknowledged).toEqual(['a', 'b', 'c', 'd'])
    expect(h.outbox.dead.get('big')).toMatchObject({
      status: 413,
      reason: expect.stringContaining('too large for the endpoint'),
    })
    // The limit never becomes smaller than a product that is needed.
    expect(h.outbox.learned).toBeGreaterThan(600)
  })
})

describe('refusals', () => {
  const nameErrors = (ids: readonly string[]) => ({
    status: 400,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-request-id': 'r-9' },
    body: JSON.stringify({ errors: ids.map((product_id) => ({ product_id, errors: 'no image' })) }),
  })

  test('products refused by name are dead letters; the rest is sent once more', async () => {
    await using h = await openHarness(({ ids }) => {
      const bad = ids.filter((id) => id === 'p3' || id === 'p7')
      return bad.length > 0 ? nameErrors(bad) : {}
    })
    h.offer(manyIds(10))
    await h.run()
    expect(h.endpoint.calls.map(({ ids }) => ids.length)).toEqual([10, 8])
    expect(h.outbox.acknowledged.length).toBe(8)
    expect(
      [...h.outbox.dead.values()].map(({ reason, status, requestId }) => [reason, status, requestId]),
    ).toEqual([
      ['no image', 400, 'r-9'],
      ['no image', 400, 'r-9'],
    ])
  })

  test('products refused by name within a success are dead letters, the others are acknowledged', async () => {
    await using h = await openHarness(() => ({ ...nameErrors(['b']), status: 200 }))
    h.offer(['a', 'b', 'c'])
    await h.run()
    expect(h.endpoint.calls.length).toBe(1)
    expect(h.outbox.acknowledged).toEqual(['a', 'c'])
    expect([...h.outbox.dead.keys()]).toEqual(['b'])
  })

  test('nothing is acknowledged by another server, and calls wait', async () => {
    await using h = await openHarness(() => ({
      body: '<!doctype html><title>Sign in</title>',
      headers: { 'content-type': 'text/html' },
    }))
    h.offer(manyIds(40))
    await h.runUntilHeld()
    expect(h.endpoint.calls.length).toBe(1)
    expect([h.outbox.acknowledged.length, h.outbox.pending.length, h.outbox.dead.size]).toEqual([0, 40, 0])
    expect(h.outbox.failureTexts[0]).toContain('text/html: a web page (Sign in). Check `api.url`')
  })

  test('a newer document revives a dead letter; one offered during the call does not become one', async () => {
    await using h = await openHarness(({ body }) => {
      if (body.includes('bad')) h.offer(['a'], 'good')
      return body.includes('bad') ? nameErrors(['a']) : {}
    })
    h.offer(['a'], 'bad')
    await h.run()
    expect(h.outbox.dead.size).toBe(0)
    expect(h.outbox.acknowledged).toEqual(['a'])
  })

  test('an endpoint that refuses everything pauses the catalog after 20, and nothing is buried', async () => {
    await using h = await openHarness(() => ({ status: 400, body: 'no' }))
    h.offer(manyIds(300))
    expect(await h.run()).toMatchObject({ kind: 'paused', reasons: ['refuses-everything'] })
    expect(h.outbox.dead.size).toBe(0)
    expect(h.outbox.claimed).toEqual([])
    expect(h.outbox.pending.length).toBe(300)
    const singles = h.endpoint.calls.filter(({ ids }) => ids.length === 1)
    expect(singles.length).toBe(20)
  })

  test('20 refused with an accepted one between do not pause', async () => {
    let singles = 0
    await using h = await openHarness(({ ids }) => ({
      status: ids.length === 1 && ++singles === 11 ? 200 : 400,
    }))
    h.offer(manyIds(21))
    await h.run()
    expect(h.outbox.pauses.size).toBe(0)
    expect(h.outbox.acknowledged.length).toBe(1)
    expect(h.outbox.dead.size).toBe(20)
  })

  test('neighbours that share a fault do not look like an endpoint that refuses everything', async () => {
    await using h = await openHarness(({ ids }) => ({ status: ids.some((id) => id < 'p140') ? 400 : 200 }))
    const random = seededRandom('neighbours')
    h.context.random = () => random.next()
    h.offer(Array.from({ length: 300 }, (_, index) => `p${index + 100}`))
    await h.run()
    expect(h.outbox.pauses.size).toBe(0)
    expect(h.outbox.dead.size).toBe(40)
    expect(h.outbox.acknowledged.length).toBe(260)
  })
})

describe('credentials', () => {
  test('a 401 pauses with advice, and no further call starts', async () => {
    await using h = await openHarness(() => ({ status: 401 }))
    h.offer(manyIds(5))
    expect(await h.run()).toMatchObject({ kind: 'shut' })
    expect(h.endpoint.calls.length).toBe(1)
    expect(h.outbox.pending.length).toBe(5)
    expect(h.outbox.echoes).toEqual([])
    expect(h.outbox.pauses.get('credentials')).toContain('API_PRODUCTS')
  })

  test('a claim that another slot holds when the 401 comes is not sent', async () => {
    await using h = await openHarness(() => ({ status: 401 }))
    h.offer(['a'])
    const begin = h.context.callLog.begin
    let second: Promise<unknown> | undefined
    const reached = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    h.context.callLog.begin = async (call) => {
      if (call.ids.includes('b' as ProductId)) {
        reached.resolve()
        await goOn.promise
      } else {
        h.offer(['b'])
        second = h.run()
        await reached.promise
      }
      return begin(call)
    }
    await h.run()
    goOn.resolve()
    await second
    expect(h.endpoint.calls.map(({ ids }) => ids)).toEqual([['a']])
    expect(h.outbox.pending).toEqual(['a', 'b'])
  })

  test('a 403 right after a good probe is about content', async () => {
    await using h = await openHarness(({ ids }) => ({ status: ids.includes('p3') ? 403 : 200 }))
    await h.outbox.resume('credentials', 'probed')
    h.offer(manyIds(8))
    await h.run()
    expect(h.outbox.pauses.size).toBe(0)
    expect([...h.outbox.dead.keys()]).toEqual(['p3'])
    expect(h.outbox.acknowledged.length).toBe(7)
  })
})

describe('failures', () => {
  test.each([500, 503, 408, 404, 301])('after a %d all goes back and calls are held', async (status) => {
    await using h = await openHarness(() => ({ status }))
    h.offer(['a', 'b'])
    await h.runUntilHeld()
    expect(h.outbox.holds[0]).toEqual({ forMs: 250, reason: 'failing' })
    expect(h.outbox.pending).toEqual(['a', 'b'])
    expect(h.outbox.claimed).toEqual([])
    expect(h.outbox.echoes).toEqual([])
  })

  test('the back-off grows with each failure and ends with a success', async () => {
    let failing = 3
    await using h = await openHarness(() => ({ status: failing-- > 0 ? 500 : 200 }))
    h.offer(['a'])
    const running = h.run()
    for (const [calls, waitMs] of [
      [1, 250],
      [2, 500],
      [3, 1_000],
    ] as const) {
      await waitFor(() => h.endpoint.calls.length === calls && h.outbox.holds.length === calls)
      await waitFor(() => h.outbox.claimed.length === 0)
      // The ticket sleeps now; a little later than it asked for, its next claim is answered.
      await waitFor(() => {
        h.clock.advance(h.endpoint.calls.length > calls ? 0 : waitMs)
        return h.endpoint.calls.length > calls
      })
    }
    await running
    expect(h.outbox.holds.map(({ forMs }) => forMs)).toEqual([250, 500, 1_000])
    expect(h.outbox.failures).toBe(0)
    expect(h.outbox.acknowledged).toEqual(['a'])
  })

  test.each([
    ['7', 7_000],
    [new Date(1_800_000_090_000).toUTCString(), 90_000],
  ])('Retry-After %s is waited for', async (value, forMs) => {
    await using h = await openHarness(() => ({ status: 429, headers: { 'retry-after': value } }))
    h.offer(['a'])
    expect(await h.run()).toEqual({ kind: 'wait', forMs, calls: 1 })
    expect(h.outbox.holds).toEqual([{ forMs, reason: 'throttled' }])
    expect(h.outbox.pending).toEqual(['a'])
  })

  test('Retry-After on a 503 is waited for when it is longer than the back-off', async () => {
    await using h = await openHarness(() => ({ status: 503, headers: { 'retry-after': '7' } }))
    h.offer(['a'])
    expect(await h.run()).toEqual({ kind: 'wait', forMs: 7_000, calls: 1 })
    expect(h.outbox.holds).toEqual([{ forMs: 7_000, reason: 'failing' }])
  })

  test.each(['reset', 'half', 'hang'] as const)('an unknown outcome (%s) is echoed', async (answer) => {
    await using h = await openHarness(() => answer, { timeoutMs: 300 })
    h.offer(['a', 'b'])
    await h.runUntilHeld()
    expect(h.outbox.pending).toEqual(['a', 'b'])
    expect(h.outbox.echoes).toEqual(['a', 'b'])
  })

  test('an echo is sent after the horizon, whatever was acknowledged before, and then is over', async () => {
    const answers: ('reset' | Record<string, never>)[] = ['reset', {}, {}]
    await using h = await openHarness(() => answers.shift() ?? {})
    h.offer(['a'])
    const running = h.run()
    await waitFor(() => h.outbox.holds.length === 1 && h.outbox.claimed.length === 0)
    await h.until(() => h.outbox.acknowledged.length === 1, 250)
    await running
    expect(h.outbox.echoes).toEqual(['a'])
    h.clock.advance(120_000)
    // The first asks for its document.
    await h.run()
    await h.run()
    expect(h.endpoint.calls.length).toBe(3)
    expect(h.outbox.echoes).toEqual([])
  })

  test('amid a bisection: what the failing call held is unknown, the rest was not sent', async () => {
    await using h = await openHarness(({ ids }) => (ids.length === 16 ? { status: 400 } : 'reset'))
    h.offer(manyIds(16))
    await h.runUntilHeld()
    expect(h.endpoint.calls.map(({ ids }) => ids.length)).toEqual([16, 8])
    expect([...h.outbox.echoes].sort()).toEqual([...(h.endpoint.calls[1]?.ids ?? [])].sort())
    expect(h.outbox.pending).toEqual(manyIds(16))
  })

  test('amid a bisection: a pause made elsewhere ends it', async () => {
    await using h = await openHarness(async () => {
      await h.outbox.pause('operator', '')
      return { status: 400 }
    })
    h.offer(manyIds(16))
    expect(await h.run()).toMatchObject({ kind: 'paused' })
    expect(h.endpoint.calls.length).toBe(1)
    expect(h.outbox.pending.length).toBe(16)
    expect(h.outbox.claimed).toEqual([])
  })
})

describe('the lease', () => {
  test('is renewed while a call runs', async () => {
    const answer = Promise.withResolvers<Record<string, never>>()
    await using h = await openHarness(() => answer.promise)
    h.offer(['a'])
    const running = h.run()
    await waitFor(() => h.endpoint.calls.length === 1)
    for (let second = 0; second < 40; second += 5) {
      h.clock.advance(5_000)
      await waitFor(async () => (await h.outbox.leaseEnds()) === h.clock.now() + 15_000)
    }
    expect(await h.outbox.expireClaims()).toBe(0)
    answer.resolve({})
    await running
    expect(h.outbox.acknowledged).toEqual(['a'])
  })

  test('when lost, nothing further is sent and the late answer counts for nothing', async () => {
    const answer = Promise.withResolvers<{ status: number }>()
    await using h = await openHarness(() => (h.endpoint.calls.length === 1 ? answer.promise : {}))
    h.offer(manyIds(8))
    const running = h.run()
    await waitFor(() => h.endpoint.calls.length === 1)
    // The process slept past its lease.
    h.clock.onAdvance?.(16_000)
    expect(await h.outbox.expireClaims()).toBe(8)
    h.clock.advance(16_000)
    answer.resolve({ status: 400 })
    await running
    // No half of the lost claim: the second call is a new claim of all.
    expect(h.endpoint.calls.map(({ ids }) => ids.length)).toEqual([8, 8])
    expect(h.outbox.echoes.length).toBe(8)
  })

  test('when lost, the running call is given up and its products are echoed', async () => {
    await using h = await openHarness(() => (h.endpoint.calls.length === 1 ? 'hang' : {}))
    h.offer(manyIds(8))
    const running = h.run()
    await waitFor(() => h.endpoint.calls.length === 1)
    // Redis is silent: no renewal is answered.
    h.outbox.renew = () => new Promise(() => {})
    h.clock.onAdvance?.(16_000)
    expect(await h.outbox.expireClaims()).toBe(8)
    h.clock.advance(16_000)
    await running
    expect(h.outbox.echoes.length).toBe(8)
    expect(h.outbox.failures).toBe(0)
    expect(h.outbox.pending).toEqual([])
  })

  test('when lost before the call began, it does not begin', async () => {
    await using h = await openHarness()
    h.offer(['a'])
    const begin = h.context.callLog.begin
    h.context.callLog.begin = async (call) => {
      if (h.logged.length === 0) h.clock.advance(16_000)
      return begin(call)
    }
    await h.run()
    expect(h.logged.map(({ outcome }) => outcome)).toEqual([undefined, 'withheld', undefined, 'acknowledge'])
    expect(h.endpoint.calls.length).toBe(1)
  })
})

describe('stopping', () => {
  test('a running call may finish, but no part of its claim is sent after it', async () => {
    await using h = await openHarness(() => {
      h.stop.abort()
      return { status: 400 }
    })
    h.offer(manyIds(4))
    expect(await h.run()).toMatchObject({ kind: 'stopped' })
    expect(h.endpoint.calls.length).toBe(1)
    expect(h.outbox.pending.length).toBe(4)
    expect(h.outbox.claimed).toEqual([])
  })

  test('a call that is given up is unknown, and no failure of the endpoint', async () => {
    await using h = await openHarness(() => {
      h.stop.abort()
      h.giveUp.abort()
      return 'hang'
    })
    h.offer(['a'])
    await h.run()
    expect(h.outbox.echoes).toEqual(['a'])
    expect(h.outbox.failures).toBe(0)
    expect(h.outbox.holds).toEqual([])
  })
})
