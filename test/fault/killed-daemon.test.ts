import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { leakCheck } from '../support/leak-check.ts'
import { faultScale, seededRandom } from './random.ts'
import { Site } from './site.ts'
import { expectedDocuments, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 20_000
const kills = 10 * faultScale

test('a daemon, its Redis, or both, killed at any moment of a load: every product arrives in its newest state', {
  timeout: 120_000 * faultScale,
}, async () => {
  const random = seededRandom('killed daemon')
  await using site = await Site.open({ latencyMs: 30 })
  let version = 0
  const dropNext = async () => {
    version += 1
    await site.drop(`v${String(version).padStart(3, '0')}_full.csv`, versionFile(version, products))
  }
  await dropNext()
  for (let kill = 1; kill <= kills; kill += 1) {
    const daemon = await site.spawn()
    await delay(random.between(200, 3_500))
    if (kill % 2 === 0) await dropNext()
    if (random.chance(0.3)) {
      await site.killEmbeddedRedis()
      await delay(random.between(0, 1_500))
    }
    if (random.chance(0.3)) await site.killEmbeddedRedis()
    expect(daemon.running, site.logs()).toBe(true)
    await daemon.kill('SIGKILL')
  }
  await site.start()
  await dropNext()
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(version, products))
})
