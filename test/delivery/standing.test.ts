import { afterEach, beforeEach, expect, test } from 'vitest'
import { openCatalogCalls } from '../../src/api/catalog-calls.ts'
import type { DeliveryContext } from '../../src/delivery/context.ts'
import { CredentialsProbe } from '../../src/delivery/probe.ts'
import { runTicket } from '../../src/delivery/run-ticket.ts'
import { Standing } from '../../src/delivery/standing.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openEndpoint } from './endpoint.ts'
import { openHarness } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const right = `Basic ${btoa(':right')}`

/** Beside the process of the harness, another one, `x`, which delivers the same outbox with other means. */
async function openTwo(status: 401 | 403, x: { token?: string; url?: URL } = {}) {
  const stack = new AsyncDisposableStack()
  const h = stack.use(
    await openHarness(({ headers }) => ({ status: headers.authorization === right ? 200 : status })),
  )
  const token = { value: x.token ?? 'right' }
  const client = stack.use(
    openCatalogCalls({
      url: () => x.url ?? h.endpoint.url,
      token: () => token.value,
      timeoutMs: 30_000,
      connections: 2,
      bodyBytesMax: 2_000_000,
      version: '0.0.0',
    }),
  )
  const context: DeliveryContext = {
    ...h.context,
    client,
    readToken: () => token.value,
    standing: new Standing(h.clock),
    processName: 'x',
  }
  return {
    ...h,
    token,
    x: context,
    /** A ticket of `x`, which ends where it would wait. */
    async runX() {
      const stop = new AbortController()
      const running = runTicket('any', context, stop.signal)
      const holds = h.outbox.holds.length
      await h.until(() => h.outbox.holds.length > holds || context.standing.restMs > 0, 0)
      stop.abort()
      return running
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test('a process that alone cannot reach the endpoint holds up no others', async () => {
  const gone = await openEndpoint()
  await gone[Symbol.asyncDispose]()
  await using two = await openTwo(401, { url: gone.url })
  two.offer(['a'])
  await two.runX()
  // Nobody knows yet that it is alone.
  expect(two.outbox.holds.length).toBe(1)
  two.clock.advance(1_000)
  await two.run()
  for (const id of ['b', 'c', 'd']) {
    two.offer([id])
    await two.runX()
    expect(two.outbox.holds.length).toBe(1)
    expect(two.x.standing.restMs).toBeGreaterThan(0)
    expect(await runTicket('any', two.x, new AbortController().signal)).toMatchObject({ kind: 'shut' })
    // At once.
    expect(await two.run()).toMatchObject({ kind: 'idle', calls: 1 })
    two.clock.advance(two.x.standing.restMs)
  }
  expect(two.outbox.acknowledged).toEqual(['a', 'b', 'c', 'd'])
})

test.each([401, 403] as const)(
  'a process that alone is answered %d makes no call that pauses the others, and buries nothing',
  async (status) => {
    await using two = await openTwo(status, { token: 'wrong' })
    const [d, x] = [new CredentialsProbe(two.context), new CredentialsProbe(two.x)]
    two.offer(['a'])
    await two.runX()
    expect([...two.outbox.pauses.keys()]).toEqual(['credentials'])
    expect(await d.probe(['credentials'])).toBe(true)
    const callsOfX = () => two.endpoint.calls.filter(({ headers }) => headers.authorization !== right)
    for (const id of ['b', 'c']) {
      two.offer([id])
      await x.probeAlone()
      expect(await two.runX()).toMatchObject({ kind: 'shut', calls: 0 })
      expect(await two.run()).toMatchObject({ kind: 'idle', calls: 1 })
    }
    expect(two.outbox.dead.size).toBe(0)
    expect(two.outbox.acknowledged).toEqual(['a', 'b', 'c'])
    // One with the product, one probe: the next comes in its time.
    expect(callsOfX().map(({ ids }) => ids)).toEqual([['a'], []])
    two.token.value = 'right'
    await x.probeAlone()
    two.offer(['d'])
    expect(await runTicket('any', two.x, new AbortController().signal)).toMatchObject({
      kind: 'idle',
      calls: 1,
    })
  },
)

test('after the operator has resumed, the next call shows whether the credentials are taken', async () => {
  await using two = await openTwo(401, { token: 'wrong' })
  const x = new CredentialsProbe(two.x)
  two.offer(['a'])
  await two.runX()
  await two.outbox.resume('credentials', 'operator')
  await x.probeAlone()
  await two.runX()
  expect([...two.outbox.pauses.keys()]).toEqual(['credentials'])
})

test('a probe that is not answered leaves its turn to others', async () => {
  const gone = await openEndpoint()
  await gone[Symbol.asyncDispose]()
  await using two = await openTwo(401, { url: gone.url })
  const [d, x] = [new CredentialsProbe(two.context), new CredentialsProbe(two.x)]
  await two.outbox.pause('credentials', '')
  two.endpoint.answerWith(() => ({ status: 401 }))
  expect(await d.probe(['credentials'])).toBe(false)
  two.clock.advance(10_000)
  expect(await x.probe(['credentials'])).toBe(false)
  two.endpoint.answerWith(() => ({}))
  two.clock.advance(1_000)
  expect(await x.probe(['credentials'])).toBe(false)
  expect(await d.probe(['credentials'])).toBe(true)
})
