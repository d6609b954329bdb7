import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openSite } from './site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const addresses = (host: string, count: number) =>
  Array.from({ length: count }, (_, index) => [`person${index}@${host}`, false] as const)

test('a run of bad addresses, as lists have it, becomes dead letters and stops nobody', async () => {
  await using site = await openSite({
    script: ({ email }) => ({ status: email.endsWith('@gone.example') ? 400 : 200 }),
  })
  await site.start()
  await site.drop([...addresses('gone.example', 60), ...addresses('shop.example', 5)])
  await site.settled()
  expect(await site.redis.hlen(site.keys.dead)).toBe(60)
  expect(await site.redis.hlen(site.keys.pause)).toBe(0)
  expect(site.endpoint.calls.length).toBe(65)
})

test('an endpoint that refuses all of a hundred consents in a row is paused, and buries none of them', async () => {
  await using site = await openSite({ script: () => ({ status: 400 }) })
  await site.start()
  await site.drop(addresses('shop.example', 110))
  await waitFor(async () => (await site.redis.hlen(site.keys.pause)) === 1, { what: 'paused' })
  await waitFor(async () => (await site.redis.hlen(site.keys.claimed)) === 0, { what: 'nothing under way' })
  expect(await site.redis.hlen(site.keys.dead)).toBeLessThan(10)
  expect(await site.redis.hlen(site.keys.pending)).toBe(110)
})
