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
  expect(site.overview()?.dead).toBe(60)
  expect(site.isPaused()).toBe(false)
  expect(site.endpoint.calls.length).toBe(65)
})

test('an endpoint that refuses all of a hundred consents in a row is paused, and buries none of them', async () => {
  await using site = await openSite({ script: () => ({ status: 400 }) })
  await site.start()
  await site.drop(addresses('shop.example', 110))
  await waitFor(site.isPaused, { what: 'paused' })
  await waitFor(() => site.overview()?.inFlight === 0, { what: 'nothing under way' })
  expect(site.overview()?.dead).toBeLessThan(10)
  expect(site.overview()?.pending).toBe(110)
})
