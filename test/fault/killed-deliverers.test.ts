import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Child } from '../support/child.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { faultScale, seededRandom } from './random.ts'
import { Site } from './site.ts'
import { expectedDocuments, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 12_000
const kills = 10 * faultScale
const roles: readonly string[][] = [
  ['start'],
  ['start', '--roles', 'deliver'],
  ['start', '--roles', 'deliver'],
]

test('three delivering processes on one Redis, killed at random: the newest states, and no product in two calls at a time', {
  timeout: 300_000 * faultScale,
}, async () => {
  const random = seededRandom('killed deliverers')
  await using redis = await startRedis({ aof: true })
  await using site = await Site.open({ redisUrl: redis.url, latencyMs: 150 })
  let version = 0
  const dropNext = async () => {
    version += 1
    await site.drop(`v${String(version).padStart(3, '0')}_full.csv`, versionFile(version, products))
  }
  const children: Child[] = []
  for (const args of roles) children.push(await site.spawn(...args))
  await dropNext()
  for (let kill = 1; kill <= kills; kill += 1) {
    await delay(random.between(300, 2_500))
    if (kill % 2 === 0) await dropNext()
    const victim = random.between(0, roles.length - 1)
    expect(children[victim]?.running, site.logs()).toBe(true)
    await children[victim]?.kill('SIGKILL')
    children[victim] = await site.spawn(...(roles[victim] ?? []))
  }
  await dropNext()
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(version, products))
  // Each call is told where the mirror is, whoever made it.
  const listed = await site.run('calls', '--limit', '1000', '--json')
  const hosts = (JSON.parse(listed) as { host?: string }[]).map(({ host }) => host)
  expect(new Set(hosts)).toEqual(new Set([undefined, hostname()]))
  expect((await site.summary()).overlapping).toEqual({ count: 0, ids: [] })
})
