import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Delivery } from '../../src/delivery/worker.ts'
import { StorageError } from '../../src/lib/errors.ts'
import type { RedisOutbox } from '../../src/outbox/outbox.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import type { Script } from './endpoint.ts'
import { document, openHarness } from './harness.ts'
import { MemoryTickets } from './memory-tickets.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

/** A whole delivery of one process. Time stands still until a test lets it pass. */
async function openWorker(script?: Script, overrides: Parameters<typeof openHarness>[1] = {}) {
  const h = await openHarness(script, overrides)
  const tickets = new MemoryTickets(h.clock)
  const progress: string[] = []
  const outage = { on: false }
  const outbox = failWhile(h.outbox, outage)
  const { calls, client, readToken, callLog, config, clock, log } = h.context
  const delivery = new Delivery({
    outbox,
    calls,
    client,
    readToken,
    callLog,
    config,
    clock,
    log,
    tickets,
    processName: 'p1',
    progress: {
      expected: () => void progress.push('expected'),
      made: () => void progress.push('made'),
      limited: () => {},
      waiting: () => {
        progress.push('waiting')
        return { [Symbol.dispose]: () => void progress.push('waited') }
      },
    },
    random: () => 0.5,
  })
  return {
    ...h,
    tickets,
    progress,
    outage,
    delivery,
    async [Symbol.asyncDispose]() {
      await delivery[Symbol.asyncDispose]()
      await h[Symbol.asyncDispose]()
    },
  }
}

/** What asks Redis nothing. */
const withoutRedis = new Set<string | symbol>(['abandon', 'prepare', 'rest'])

/** The same outbox, that cannot be reached while the outage is on. */
function failWhile(outbox: RedisOutbox, outage: { on: boolean }): RedisOutbox {
  return new Proxy(outbox, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>
      if (typeof method !== 'function') return method
      return (...args: unknown[]) =>
        outage.on && !withoutRedis.has(name)
          ? Promise.reject(new StorageError('redis-down', 'Redis cannot be reached'))
          : method.apply(target, args)
    },
  })
}

test('what was offered is sent after a wake, without any time passing', async () => {
  await using w = await openWorker()
  w.offer(['a', 'b'])
  w.delivery.wake()
  await waitFor(() => w.outbox.acknowledged.length === 2)
  expect(w.endpoint.calls.length).toBe(1)
})

test('the sweep finds what nobody woke it for', async () => {
  await using w = await openWorker()
  await waitFor(() => w.progress.length > 0)
  w.offer(['a'])
  await w.until(() => w.outbox.acknowledged.length === 1)
})

test('a change offered while a ticket ends is not left behind, though its own ticket could not be made', async () => {
  await using w = await openWorker(undefined, { concurrency: 2 })
  const claim = w.outbox.claim.bind(w.outbox)
  w.outbox.claim = async (options) => {
    const answer = await claim(options)
    if (answer.kind !== 'idle' || w.outbox.isOffered('late')) return answer
    w.offer(['late'])
    w.delivery.wake()
    // The wake finds this ticket still in the queue.
    await new Promise((resolve) => setImmediate(resolve))
    return answer
  }
  await w.tickets.ensureTicket({ id: 'bulk.p1.0', priority: 2 })
  // Less than a sweep takes to come.
  let passedMs = 0
  await waitFor(() => {
    if (passedMs < 500) w.clock.advance(10)
    passedMs += 10
    return w.outbox.acknowledged.includes('late')
  })
})

test('what is due later is sent when it is due', async () => {
  await using w = await openWorker()
  w.outbox.offer('a', document('a'), 'new', 1_000)
  w.delivery.wake()
  const offeredAt = w.clock.now()
  await w.until(() => w.outbox.acknowledged.length === 1)
  expect(w.clock.now() - offeredAt).toBeGreaterThanOrEqual(1_000)
})

test('one slot is kept for urgent changes while a backlog fills the others', async () => {
  const hanging = Promise.withResolvers<Record<string, never>>()
  await using w = await openWorker(({ ids }) => (ids[0]?.startsWith('bulk') ? hanging.promise : {}), {
    callBytes: 100,
  })
  const bulk = Array.from({ length: 40 }, (_, index) => `bulk-${index}`)
  w.offer(bulk, 'x'.repeat(40))
  w.delivery.wake()
  await waitFor(() => w.endpoint.calls.length === 3)
  w.outbox.offer('now', document('now'), 'urgent')
  w.delivery.wake()
  await waitFor(() => w.outbox.acknowledged.includes('now'))
  expect(w.tickets.most).toEqual({ urgent: 1, bulk: 3 })
  expect(w.endpoint.calls.length).toBe(4)
  hanging.resolve({})
  await w.until(() => w.outbox.acknowledged.length === 41)
})

test('urgent changes that are told of need no ticket, and share the one slot', async () => {
  const hanging = Promise.withResolvers<Record<string, never>>()
  await using w = await openWorker(({ ids }) => (ids[0] === 'first' ? hanging.promise : {}))
  const tell = (id: string) => {
    w.outbox.offer(id, document(id), 'urgent')
    w.delivery.wake({ urgent: true, others: false })
  }
  // The first sweep is over.
  await waitFor(() => w.progress.length > 0)
  tell('first')
  await waitFor(() => w.endpoint.calls.length === 1)
  expect(w.tickets.most.urgent).toBe(0)
  tell('second')
  tell('third')
  // A ticket runs and ends.
  const ensure = () => w.tickets.ensureTicket({ id: 'urgent.p1', priority: 1 })
  await ensure()
  await waitFor(async () => (await ensure()) === 'added')
  expect(w.endpoint.calls.length).toBe(1)
  hanging.resolve({})
  await waitFor(() => w.outbox.acknowledged.length === 3)
  expect(w.endpoint.calls.map(({ ids }) => ids)).toEqual([['first'], ['second', 'third']])
})

test('bulk tickets of a process that died do not take the slot for urgent changes', async () => {
  const hanging = Promise.withResolvers<Record<string, never>>()
  await using w = await openWorker(({ ids }) => (ids[0]?.startsWith('bulk') ? hanging.promise : {}), {
    callBytes: 100,
  })
  w.offer(
    Array.from({ length: 40 }, (_, index) => `bulk-${index}`),
    'x'.repeat(40),
  )
  for (let index = 0; index < 4; index++)
    await w.tickets.ensureTicket({ id: `bulk.dead.${index}`, priority: 2 })
  w.delivery.wake()
  await waitFor(() => w.endpoint.calls.length === 3)
  w.outbox.offer('now', document('now'), 'urgent')
  w.delivery.wake()
  await waitFor(() => w.outbox.acknowledged.includes('now'))
  expect(w.endpoint.calls.length).toBe(4)
  hanging.resolve({})
})

test('all slots together never have a product in two calls', async () => {
  await using w = await openWorker(undefined, { callBytes: 120 })
  const ids = Array.from({ length: 60 }, (_, index) => `p${index}`)
  for (const text of ['one', 'two', 'three']) {
    w.offer(ids, text)
    w.delivery.wake()
    await w.until(() => w.outbox.acknowledged.length === 60)
  }
  expect(w.endpoint.overlapping.size).toBe(0)
  expect(w.outbox.dead.size).toBe(0)
})

test('where Redis serves another endpoint, it is told once, and tickets are left to others', async () => {
  await using w = await openWorker()
  await w.outbox.shut()
  const told = () => w.lines.filter((line) => JSON.stringify(line).includes('nothing is sent from here'))
  await w.until(() => told().length > 0)
  expect(JSON.stringify(told())).toMatch(
    /sent to https:\/\/other\.example, .* configured for https:\/\/api\.example/,
  )
  await w.tickets.ensureTicket({ id: 'bulk.of-another.0', priority: 2 })
  await w.until(() => w.tickets.rests > 0)
  const from = w.clock.now()
  await w.until(() => w.clock.now() > from + 30_000)
  expect(told().length).toBe(1)
})

describe('credentials', () => {
  const checkToken: Script = ({ headers }) => ({
    status: headers.authorization === `Basic ${btoa(':right')}` ? 200 : 401,
  })

  test('a wrong token stops the line; with the right one it goes on by itself', async () => {
    await using w = await openWorker(checkToken)
    w.token.value = 'wrong'
    w.offer(['a', 'b'])
    w.delivery.wake()
    await waitFor(() => w.outbox.pauses.has('credentials'))
    const probes = () => w.endpoint.calls.filter(({ ids }) => ids.length === 0)
    await w.until(() => probes().length === 2)
    expect(w.endpoint.calls.length).toBe(3)
    expect(w.outbox.pending).toEqual(['a', 'b'])
    w.token.value = 'right'
    await w.until(() => w.outbox.acknowledged.length === 2)
    expect(w.outbox.pauses.size).toBe(0)
    expect(w.outbox.echoes).toEqual([])
  })

  test.each([
    [500, '{}'],
    [503, '{}'],
    [403, '{}'],
    [200, '<html><title>Log in</title></html>'],
  ])('a probe answered %d with %s does not resume', async (status, body) => {
    await using w = await openWorker(({ ids }) => (ids.length === 0 ? { status, body } : { status: 401 }))
    w.offer(['a'])
    w.delivery.wake()
    await waitFor(() => w.outbox.pauses.has('credentials'))
    await w.until(() => w.endpoint.calls.length >= 3)
    expect(w.outbox.pauses.has('credentials')).toBe(true)
    expect(w.endpoint.calls.filter(({ ids }) => ids.length > 0).length).toBe(1)
  })

  test.each([
    [302, ''],
    [404, ''],
    [429, ''],
  ])('a probe answered %d buries nothing that is answered 403 then', async (status, body) => {
    await using w = await openWorker(({ ids }) => (ids.length === 0 ? { status, body } : { status: 403 }))
    w.offer(['a', 'b'])
    w.delivery.wake()
    await w.until(() => w.endpoint.calls.filter(({ ids }) => ids.length > 0).length >= 3)
    expect(w.outbox.dead.size).toBe(0)
    w.endpoint.answerWith(() => ({}))
    await w.until(() => w.outbox.acknowledged.length === 2)
  })

  test('probes become rarer', async () => {
    await using w = await openWorker(() => ({ status: 401 }))
    w.offer(['a'])
    w.delivery.wake()
    const times: number[] = []
    w.endpoint.answerWith(({ ids }) => {
      if (ids.length === 0) times.push(w.clock.now())
      return { status: 401 }
    })
    await w.until(() => times.length >= 6)
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    for (const [index, atLeast] of [5_000, 10_000, 20_000, 30_000, 30_000].entries()) {
      // Seen at the endpoint: a call that arrives late is nearer to the next one.
      expect(gaps[index]).toBeGreaterThan(atLeast * 0.7)
    }
  })

  test('another token than was refused is tried at once, by a delivery that is opened, too', async () => {
    await using w = await openWorker(checkToken)
    w.token.value = 'wrong'
    w.offer(['a'])
    w.delivery.wake()
    await waitFor(() => w.outbox.pauses.has('credentials'))
    const probes = () => w.endpoint.calls.filter(({ ids }) => ids.length === 0).length
    // The next one by turn comes after 20 s.
    await w.until(() => probes() === 3)
    const triedAt = w.clock.now()
    w.token.value = 'wrong, too'
    await w.until(() => probes() === 4)
    expect(w.clock.now() - triedAt).toBeLessThanOrEqual(3_000)
    await w.until(() => probes() === 6)
    const openedAt = w.clock.now()
    await using again = new Delivery({ ...w.context, tickets: new MemoryTickets(w.clock), processName: 'p2' })
    await w.until(() => probes() === 7)
    expect(w.clock.now() - openedAt).toBeLessThanOrEqual(3_000)
    w.token.value = 'right'
    await w.until(() => w.outbox.acknowledged.length === 1)
    again.wake()
  })

  test('status tells when they were tried last, what was answered, and when they are tried again', async () => {
    await using w = await openWorker(({ ids }) => ({ status: ids.length === 0 ? 403 : 401 }))
    w.offer(['a'])
    w.delivery.wake()
    const credentials = async () =>
      (await w.outbox.overview()).paused.find(({ reason }) => reason === 'credentials')
    await waitFor(() => w.outbox.pauses.has('credentials'))
    expect((await credentials())?.hint).toContain('answered 401')
    await w.until(() => w.endpoint.calls.length === 3)
    await waitFor(async () => (await credentials())?.hint.includes('answered 403') ?? false)
    const told = await credentials()
    expect(told?.hint).toContain('Check the API_PRODUCTS token')
    expect(Date.parse(told?.triedAt ?? '')).toBeGreaterThan(Date.parse(told?.since ?? ''))
    expect(told?.nextTryMs).toBeGreaterThan(0)
    expect(told?.nextTryMs).toBeLessThanOrEqual(10_000)
    await w.outbox.pause('operator', '')
    expect((await credentials())?.nextTryMs).toBeUndefined()
  })

  test('while the operator has paused the catalog too, nothing is sent, not even a probe', async () => {
    await using w = await openWorker(() => ({ status: 401 }))
    w.offer(['a'])
    w.delivery.wake()
    await waitFor(() => w.outbox.pauses.has('credentials'))
    await w.outbox.pause('operator', '')
    const callsBefore = w.endpoint.calls.length
    const startedAt = w.clock.now()
    await w.until(() => w.clock.now() - startedAt > 60_000)
    expect(w.endpoint.calls.length).toBeLessThanOrEqual(callsBefore + 1)
    await w.outbox.resume('operator', 'operator')
    await w.until(() => w.endpoint.calls.length > callsBefore + 1)
  })
})

describe('Redis away', () => {
  test('is told once, and everything goes on when it is back', async () => {
    await using w = await openWorker()
    // The first sweep is over: it is the next that fails.
    await waitFor(() => w.progress.length > 0)
    w.outage.on = true
    w.offer(['a'])
    const startedAt = w.clock.now()
    await w.until(() => w.clock.now() - startedAt > 10_000)
    expect(w.endpoint.calls).toEqual([])
    w.outage.on = false
    await w.until(() => w.outbox.acknowledged.length === 1)
    const texts = w.lines.map(({ msg }) => msg)
    expect(texts.filter((text) => text.startsWith('delivery waits'))).toHaveLength(1)
    expect(texts.filter((text) => text.startsWith('delivery goes on'))).toHaveLength(1)
  })

  test('during a call: its claim ends with its lease, and counts as unknown', async () => {
    await using w = await openWorker(() => {
      if (w.endpoint.calls.length === 1) w.outage.on = true
      return {}
    })
    w.offer(['a'])
    w.delivery.wake()
    await waitFor(() => w.outage.on && w.lines.some(({ msg }) => msg.startsWith('delivery waits')))
    expect(w.outbox.claimed).toEqual(['a'])
    w.outage.on = false
    await w.until(() => w.outbox.acknowledged.length === 1)
    expect(w.endpoint.calls.length).toBe(2)
    expect(w.outbox.echoes).toEqual(['a'])
  })
})

describe('the watchdog', () => {
  test('hears that work is expected before it hears of any done', async () => {
    await using w = await openWorker()
    await waitFor(() => w.progress.length > 0)
    expect(new Set(w.progress)).toEqual(new Set(['made']))
    w.offer(['a'])
    w.delivery.wake()
    await waitFor(() => w.outbox.acknowledged.length === 1)
    expect(w.progress).toContain('expected')
    const [began, ended] = [w.progress.indexOf('waiting'), w.progress.indexOf('waited')]
    expect(began).toBeGreaterThan(-1)
    expect(ended).toBeGreaterThan(began)
  })

  test('takes a call that never begins for a stall, although its lease is renewed', async () => {
    await using w = await openWorker(undefined, { concurrency: 1 })
    const disk = Promise.withResolvers<string>()
    let isBegun = false
    w.context.callLog.begin = () => {
      isBegun = true
      return disk.promise
    }
    w.offer(['a'])
    w.delivery.wake()
    await w.until(() => isBegun)
    w.offer(['b'])
    const before = w.progress.length
    const expectations = () => w.progress.filter((what) => what === 'expected').length
    await w.until(() => expectations() > 10)
    expect(new Set(w.progress.slice(before))).toEqual(new Set(['expected']))
    disk.resolve('call')
  })
})

describe('closing', () => {
  test('lets a running call finish', async () => {
    const answer = Promise.withResolvers<Record<string, never>>()
    const w = await openWorker(() => answer.promise)
    w.offer(['a'])
    w.delivery.wake()
    await waitFor(() => w.endpoint.calls.length === 1)
    const closing = w.delivery[Symbol.asyncDispose]()
    w.offer(['b'])
    w.delivery.wake()
    answer.resolve({})
    await closing
    expect(w.outbox.acknowledged).toEqual(['a'])
    expect(w.endpoint.calls.length).toBe(1)
    await w[Symbol.asyncDispose]()
  })

  test('gives up a call that takes too long: its products are unknown and free again', async () => {
    const w = await openWorker(() => 'hang')
    w.offer(['a'])
    w.delivery.wake()
    await waitFor(() => w.endpoint.calls.length === 1)
    const closing = w.delivery[Symbol.asyncDispose]()
    w.clock.advance(9_000)
    await closing
    expect(w.outbox.claimed).toEqual([])
    expect(w.outbox.pending).toEqual(['a'])
    expect(w.outbox.echoes).toEqual(['a'])
    await w[Symbol.asyncDispose]()
  })
})
