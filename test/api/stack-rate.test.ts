import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StackClientOptions, StackWait } from '../../src/api/stack-calls.ts'
import { StackClient } from '../../src/api/stack-client.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { leakCheck } from '../support/leak-check.ts'
import { LeapingClock, openServer, type Reply, thrownBy } from './server.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

function open(url: string, options: Partial<StackClientOptions> = {}) {
  const clock = new LeapingClock()
  const waits: StackWait[] = []
  const onWait = (wait: StackWait) => void waits.push(wait)
  const client = new StackClient({ url, accessToken: 'access-token', stack: 's', clock, onWait, ...options })
  return { client, clock, waits, [Symbol.asyncDispose]: () => client.close() }
}

const record = { body: { data: { id: 7 }, errors: [] } }
const rate = (remaining: number, reset?: number | string) => ({
  'X-API-Remaining-Requests': String(remaining),
  ...(reset === undefined ? {} : { 'X-API-Remaining-Requests-Reset': String(reset) }),
})

/** One answer after the other; the last one from then on. */
const inTurn =
  (...replies: Reply[]) =>
  (_: unknown, count: number) =>
    replies[Math.min(count, replies.length) - 1] ?? record

describe('a call that is refused for its rate waits and is made again', () => {
  test.each<[string, Exclude<Reply, string>, number[]]>([
    ['429 with a reset', { status: 429, headers: rate(0, 17) }, [17_000]],
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '5' } }, [5_000]],
    ['429 with both: the longer', { status: 429, headers: { ...rate(0, 4), 'retry-after': '9' } }, [9_000]],
    ['429 with a moment', { status: 429, headers: rate(0, 1_800_000_030) }, [30_000]],
    ['429 with neither', { status: 429 }, [1_000]],
    ['429 with what is no number', { status: 429, headers: rate(0, 'soon') }, [1_000]],
    ['403 with nothing remaining', { status: 403, headers: rate(0, 3) }, [3_000]],
  ])('%s', async (_, refusal, expected) => {
    await using server = await openServer(inTurn(refusal, record))
    await using opened = open(server.url)
    // A write too: what is refused took no effect.
    await opened.client.terms.update(7, { name: 'N' })
    expect(opened.clock.sleeps).toEqual(expected)
    expect(server.requests.map(({ method, body }) => [method, body])).toEqual([
      ['PUT', { name: 'N' }],
      ['PUT', { name: 'N' }],
    ])
    expect(opened.waits).toEqual([
      { waitMs: expected[0], method: 'PUT', path: '/api/terms/7', because: 'refused' },
    ])
  })

  test('ever longer where the server does not say how long', async () => {
    await using server = await openServer(inTurn({ status: 429 }, { status: 429 }, { status: 429 }, record))
    await using opened = open(server.url)
    await opened.client.terms.get(7)
    expect(opened.clock.sleeps).toEqual([1_000, 2_000, 4_000])
  })
})

test('403 with requests remaining is no matter of the rate', async () => {
  await using server = await openServer(() => ({ status: 403, headers: rate(12, 3) }))
  await using opened = open(server.url)
  expect(await thrownBy(() => opened.client.rules.list())).toMatchObject({ status: 403 })
  expect(opened.clock.sleeps).toEqual([])
})

test('when nothing remains, the next call waits before it is made', async () => {
  await using server = await openServer(
    inTurn({ ...record, headers: rate(0, 2) }, { ...record, headers: rate(449, 900) }),
  )
  await using opened = open(server.url)
  await opened.client.terms.get(7)
  expect(opened.clock.sleeps).toEqual([])
  await opened.client.terms.delete(7)
  await opened.client.terms.get(7)
  expect(opened.clock.sleeps).toEqual([2_000])
  expect(opened.waits).toEqual([{ waitMs: 2_000, method: 'DELETE', path: '/api/terms/7', because: 'spent' }])
})

test('calls at one time wait together', async () => {
  await using server = await openServer((_, count) => ({ ...record, headers: rate(count === 1 ? 0 : 9, 2) }))
  await using opened = open(server.url)
  await opened.client.terms.get(7)
  await Promise.all([1, 2, 3].map((id) => opened.client.terms.get(id)))
  expect(opened.clock.sleeps[0]).toBe(2_000)
  expect(opened.clock.now()).toBeLessThanOrEqual(1_800_000_006_000)
  expect(server.requests.length).toBe(4)
})

describe('a wait that would be too long', () => {
  test('after a refusal: the refusal is thrown, with the time', async () => {
    const errors = [{ message: 'Rate limit exceeded' }]
    await using server = await openServer(() => ({ status: 429, headers: rate(0, 60), body: { errors } }))
    await using opened = open(server.url, { waitAtMostMs: 59_999 })
    expect(await thrownBy(() => opened.client.rules.list())).toMatchObject({
      code: 'rate-limited',
      status: 429,
      retryAfterMs: 60_000,
      serverMessage: 'Rate limit exceeded',
      errors,
      exitCode: 3,
    })
    expect(opened.clock.sleeps).toEqual([])
    expect(server.requests.length).toBe(1)
  })

  test('counts all waits of a call', async () => {
    await using server = await openServer(() => ({ status: 429, headers: rate(0, 40) }))
    await using opened = open(server.url, { waitAtMostMs: 100_000 })
    expect(await thrownBy(() => opened.client.rules.list())).toMatchObject({ status: 429 })
    expect(opened.clock.sleeps).toEqual([40_000, 40_000])
  })

  test('before a call: nothing is sent', async () => {
    await using server = await openServer(() => ({ ...record, headers: rate(0, 60) }))
    await using opened = open(server.url, { waitAtMostMs: 0 })
    await opened.client.terms.get(7)
    expect(await thrownBy(() => opened.client.terms.get(8))).toMatchObject({
      code: 'rate-limited',
      mayHaveTakenEffect: false,
      message: expect.stringContaining('no request remains for 60 s'),
    })
    expect(server.requests.length).toBe(1)
  })

  test('has an end by itself', async () => {
    await using server = await openServer(() => ({ status: 429, headers: rate(0, 900) }))
    await using opened = open(server.url)
    expect(await thrownBy(() => opened.client.rules.list())).toMatchObject({ status: 429 })
    expect(opened.clock.sleeps).toEqual([900_000])
  })
})

test('the signal ends a wait', async () => {
  await using server = await openServer(() => ({ status: 429, headers: rate(0, 60) }))
  const giveUp = new AbortController()
  const reason = new Error('enough')
  await using opened = open(server.url, { clock: systemClock, onWait: () => giveUp.abort(reason) })
  const error = await thrownBy(() => opened.client.terms.delete(7, { signal: giveUp.signal }))
  expect(error).toMatchObject({ code: 'call-aborted', mayHaveTakenEffect: false, cause: reason })
  expect(server.requests.length).toBe(1)
})

describe('a connection that is lost', () => {
  test('is asked again for what is only read', async () => {
    await using server = await openServer(inTurn('reset', record))
    await using opened = open(server.url)
    expect(await opened.client.terms.get(7)).toEqual({ id: 7 })
    expect(server.requests.length).toBe(2)
  })

  test.each<[string, (client: StackClient) => Promise<unknown>]>([
    ['create', ({ terms }) => terms.create({ type: 'default', network: 'ecal', term: 'x' })],
    ['update', ({ terms }) => terms.update(7, { name: 'N' })],
    ['delete', ({ terms }) => terms.delete(7)],
    ['apply', ({ rules }) => rules.apply(7)],
  ])('never for %s', async (_, call) => {
    await using server = await openServer(() => 'reset')
    await using opened = open(server.url)
    expect(await thrownBy(() => call(opened.client))).toMatchObject({ mayHaveTakenEffect: true })
    expect(server.requests.length).toBe(1)
  })
})

test('a call that waits when the client is closed fails at once', async () => {
  await using server = await openServer(() => ({ status: 429, headers: rate(0, 900) }))
  const closing: { close?: () => Promise<void> } = {}
  const onWait = () => void closing.close?.()
  const client = new StackClient({ url: server.url, accessToken: 'access-token', stack: 's', onWait })
  closing.close = () => client.close()
  const error = await thrownBy(() => client.terms.get(7))
  expect(error).toMatchObject({ code: 'call-aborted', mayHaveTakenEffect: false })
  expect(server.requests).toHaveLength(1)
})
