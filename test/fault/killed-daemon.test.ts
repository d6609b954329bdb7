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
  timeout: 900_000 * faultScale,
}, async () => {
  const random = seededRandom('killed daemon')
  // Slow enough that there is nearly always something to send.
  const delivery = '{ callBytes: 50KB, concurrency: 4, timeout: 5s, horizon: 3s, callsPerSecond: 50 }'
  await using site = await Site.open({ delivery, latencyMs: 50 })
  let version = 0
  const dropNext = async () => {
    version += 1
    await site.drop(`v${String(version).padStart(3, '0')}_full.csv`, versionFile(version, products))
  }
  await dropNext()
  for (let kill = 1; kill <= kills; kill += 1) {
    const daemon = await site.spawn()
    // While it starts, while it imports, or while it sends.
    const moment = kill % 3
    if (moment === 0) await delay(random.between(100, 1_500))
    else await site.untilLogged(daemon, 'catalogd runs')
    if (moment !== 0) await dropNext()
    if (moment === 1) await delay(random.between(0, 700))
    if (moment === 2) await delay(random.between(500, 3_000))
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
  await site.untilQuiet({ withinMs: 600_000 })
  await site.expectDocuments(expectedDocuments(version, products))
})
