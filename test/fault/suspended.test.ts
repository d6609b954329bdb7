import { readdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { faultScale } from './random.ts'
import { Site } from './site.ts'
import { expectedDocuments, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 5_000
/** Longer than a lease, and than a state lock goes unrenewed. */
const asleepMs = 18_000

// Only in the long version: processes that sleep longer than a lease take their time.
describe.skipIf(faultScale === 1)('a process that is suspended past its lease', () => {
  const timeout = 600_000

  test('its products are sent by others, and what it sends when it wakes does no harm', {
    timeout,
  }, async () => {
    await using redis = await startRedis({ aof: true })
    await using site = await Site.open({ redisUrl: redis.url, latencyMs: 3_000 })
    await site.start()
    const sleeper = await site.start({
      args: ['start', '--roles', 'deliver'],
      says: 'catalogd runs',
    })
    await site.drop('v1_full.csv', versionFile(1, products))
    // More than the daemon alone can have in its four calls.
    await waitFor(async () => (await site.work()).claimed > 700)
    process.kill(sleeper.pid, 'SIGSTOP')
    await site.drop('v2_full.csv', versionFile(2, products))
    await delay(asleepMs)
    await site.drop('v3_full.csv', versionFile(3, products))
    process.kill(sleeper.pid, 'SIGCONT')
    await site.untilQuiet()
    await site.expectDocuments(expectedDocuments(3, products))
    expect(sleeper.running).toBe(true)
  })

  test('a daemon that stood by takes over, and the one that wakes ends', { timeout }, async () => {
    await using site = await Site.open({ latencyMs: 50 })
    const sleeper = await site.start()
    const other = await site.start({ says: 'standing by' })
    await site.drop('v1_full.csv', versionFile(1, products))
    // Often between the claim of the file and its line in the manifest.
    await waitFor(async () => (await readdir(site.dropDir)).length === 0)
    process.kill(sleeper.pid, 'SIGSTOP')
    await site.drop('v2_full.csv', versionFile(2, products))
    await site.untilLogged(other, 'watching and importing', 40_000)
    await delay(asleepMs / 2)
    await site.drop('v3_full.csv', versionFile(3, products))
    process.kill(sleeper.pid, 'SIGCONT')
    expect((await sleeper.ended()).code).not.toBe(0)
    await site.untilQuiet()
    expect((await site.accepted()).map(({ name }) => name)).toEqual(
      [1, 2, 3].map((version) => `v${version}_full.csv`),
    )
    await site.expectDocuments(expectedDocuments(3, products))
  })
})
