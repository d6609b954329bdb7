import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openRealDelivery } from './real-delivery.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

type Opened = Awaited<ReturnType<typeof openRealDelivery>>

/** From now on Redis refuses whatever may need memory, however much delivery frees. */
async function fill({ connection }: Opened): Promise<void> {
  await connection.config('SET', 'maxmemory', '1mb')
  await expect(connection.set('{main}more', '1')).rejects.toThrow('OOM')
}

test('a full Redis is drained to the end: refusals, failures and refused credentials included', {
  timeout: 300_000,
}, async () => {
  const answers = [{ status: 503 }, { status: 401 }]
  await using d = await openRealDelivery({ callBytes: 2_000 }, ({ ids }) => {
    // A probe is an empty call.
    const answer = ids.length > 0 ? answers.shift() : undefined
    if (answer) return answer
    if (ids.length === 1 && ids[0] === 'new-7') return { status: 422, body: '{"detail":"no image"}' }
    if (ids.includes('new-7')) return { status: 422, body: '{"detail":"something is wrong"}' }
    return {}
  })
  await d.outbox.pause('operator', 'until Redis is full')
  const names = (prefix: string) => Array.from({ length: 60 }, (_, index) => `${prefix}-${index}`)
  await d.putDue('deferred', names('deferred'))
  await d.putDue('echoes', names('echo'))
  await d.put(names('new'), 'new', 'x'.repeat(100))
  await d.put(names('urgent'), 'urgent')
  await waitFor(async () => (await d.connection.hlen(d.keys.documents)) === 240)
  await fill(d)
  await d.outbox.resume('operator', 'operator')
  // One becomes a dead letter, which is pending, as it was while its calls were halved.
  const isDrained = async () =>
    d.pending() === 1 && (await d.connection.zcard(d.keys.echoes)) === 0 && d.dead().length === 1
  await waitFor(isDrained, {
    withinMs: 120_000,
    what: () => `an empty outbox: ${d.endpoint.calls.length} calls`,
  })
  expect(d.dead()).toEqual(['new-7'])
  expect(await d.connection.hlen(d.keys.claimed)).toBe(0)
  const sent = new Set(d.endpoint.calls.flatMap(({ ids }) => ids))
  expect(sent.size).toBe(240)
  await expect(d.connection.set('{main}more', '1')).rejects.toThrow('OOM')

  // With memory again tickets carry on.
  await d.connection.config('SET', 'maxmemory', '0')
  await d.put(['late'], 'urgent')
  await waitFor(() => d.pending() === 1)
})
