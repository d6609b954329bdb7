import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { faultScale, seededRandom } from './random.ts'
import { Site } from './site.ts'
import { expectedDocuments, productId, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 4_000
const versions = 6 * faultScale

test('an endpoint that fails in every way during a load: everything arrives, the newest last', {
  timeout: 300_000 * faultScale,
}, async () => {
  const random = seededRandom('failing endpoint')
  const delivery = '{ callBytes: 30KB, concurrency: 4, timeout: 1s, horizon: 3s, callsPerSecond: 200 }'
  await using site = await Site.open({ delivery, latencyMs: 10 })
  await site.start()
  const often = (fault: Record<string, unknown>) => ({ share: 0.04, seed: random.between(1, 1e6), ...fault })
  await site.fault(
    often({ status: 500 }),
    often({ status: 500, apply: 'before' }),
    often({ status: 502, apply: 'before' }),
    often({ status: 503, headers: { 'retry-after': '1' } }),
    often({ status: 429, headers: { 'retry-after': 1 }, share: 0.02 }),
    // A date that has passed: wait no longer than usual.
    often({ status: 429, headers: { 'retry-after': new Date().toUTCString() } }),
    often({ status: 413, overBytes: 12_000, share: 1, calls: 2 }),
    often({ hang: true, share: 0.02 }),
    often({ hang: true, apply: 'before', share: 0.02 }),
    often({ reset: 'before' }),
    often({ reset: 'after' }),
    often({ half: true }),
    often({ half: true, apply: 'never' }),
    // Given up after 1 s, and applied within the horizon, when newer documents may have been taken already.
    often({ applyLate: random.between(1_200, 2_500) }),
  )
  for (let version = 1; version <= versions; version += 1) {
    await site.drop(`v${String(version).padStart(3, '0')}_full.csv`, versionFile(version, products))
    await delay(random.between(500, 3_000))
  }
  await site.clearFaults()
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(versions, products))
  expect((await site.summary()).overlapping).toEqual({ count: 0, ids: [] })
})

test('a call that was given up and is applied after a newer one is put right by an echo', async () => {
  const delivery = '{ callBytes: 30KB, concurrency: 2, timeout: 500ms, horizon: 4s, callsPerSecond: 200 }'
  await using site = await Site.open({ delivery })
  await site.start()
  await site.fault({ applyLate: 2_500, calls: 1 })
  await site.drop('v1_full.csv', versionFile(1, 1))
  await waitFor(async () => (await site.summary()).calls.total > 0)
  await site.drop('v2_full.csv', versionFile(2, 1))
  const price = async () => (await site.taken(productId(0)))?.document.price
  await waitFor(async () => (await price()) === 12, { what: 'the newer price' })
  await waitFor(async () => (await price()) === 11, { what: 'the older price, applied late' })
  await waitFor(async () => (await price()) === 12, { what: 'the newer price again' })
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(2, 1))
})

test('a change that the endpoint took although it answered 500, and that is undone, is undone there', async () => {
  await using site = await Site.open()
  await site.start()
  await site.drop('v1_full.csv', versionFile(1, 1))
  await site.untilQuiet()
  await site.fault({ status: 500, apply: 'before' })
  await site.drop('v2_full.csv', versionFile(2, 1))
  await waitFor(async () => (await site.taken(productId(0)))?.document.price === 12)
  await site.drop('v3_full.csv', versionFile(1, 1))
  await waitFor(async () => (await site.work()).applied === 3)
  await site.clearFaults()
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(1, 1))
})
