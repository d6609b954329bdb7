import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { seededRandom } from './random.ts'
import { Site } from './site.ts'
import { expectedDocuments, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const products = 8_000

const outages: [string, (redis: RedisServer, site: Site) => Promise<void>][] = [
  [
    'stopped and started again',
    async (redis) => {
      await redis.stop()
      await delay(3_000)
      await redis.restart()
    },
  ],
  [
    'silent for 15 s',
    async (redis) => {
      redis.pause()
      await delay(15_000)
      redis.resume()
    },
  ],
  [
    'full for a moment',
    async (_redis, site) => {
      await site.redis.config('SET', 'maxmemory', '1mb')
      await delay(3_000)
      await site.redis.config('SET', 'maxmemory', '0')
    },
  ],
  [
    'read-only for a moment',
    async (_redis, site) => {
      await site.redis.call('REPLICAOF', '127.0.0.1', '1')
      await delay(3_000)
      await site.redis.call('REPLICAOF', 'NO', 'ONE')
    },
  ],
  [
    'busy with a script for a moment',
    async (_redis, site) => {
      await site.redis.config('SET', 'lua-time-limit', '100')
      using other = Object.assign(site.redis.duplicate(), { [Symbol.dispose]: () => other.disconnect() })
      await other.connect()
      const endless = other.eval('while true do end', 0).catch(() => undefined)
      await delay(3_000)
      await site.redis.call('SCRIPT', 'KILL')
      await endless
    },
  ],
  ['wiped', async (_redis, site) => void (await site.redis.flushall())],
]

for (const [what, outage] of outages) {
  test.concurrent(`Redis ${what} during a load: files are accepted meanwhile, and everything arrives by itself`, {
    timeout: 300_000,
  }, async () => {
    const random = seededRandom(`Redis ${what}`)
    await using redis = await startRedis({ aof: true })
    await using site = await Site.open({ redisUrl: redis.url, latencyMs: 50 })
    const daemon = await site.start()
    await site.drop('v1_full.csv', versionFile(1, products))
    await waitFor(async () => (await site.work()).pending > 0, { what: 'a load' })
    await delay(random.between(0, 1_500))
    const over = outage(redis, site)
    await site.drop('v2_full.csv', versionFile(2, products))
    await site.untilAccepted()
    await over
    await site.drop('v3_full.csv', versionFile(3, products))
    await site.untilQuiet()
    await site.expectDocuments(expectedDocuments(3, products))
    expect(daemon.running).toBe(true)
  })
}

test.concurrent('files are imported while Redis is away, and what they change is delivered when it is back', async () => {
  await using redis = await startRedis({ aof: true })
  await using site = await Site.open({ redisUrl: redis.url })
  const daemon = await site.start()
  await site.drop('v1_full.csv', versionFile(1, 100))
  await site.untilQuiet()
  await redis.stop()
  await site.drop('v2_full.csv', versionFile(2, 100))
  await untilImported(site, 2)
  expect((await site.documents()).size).toBe(100)
  await redis.restart()
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(2, 100))
  expect(daemon.running).toBe(true)
})

test.concurrent('a daemon that is started while Redis is away imports, and delivers when it is there', async () => {
  await using redis = await startRedis({ aof: true })
  await using site = await Site.open({ redisUrl: redis.url })
  await redis.stop()
  const daemon = await site.start()
  await site.drop('v1_full.csv', versionFile(1, 100))
  await untilImported(site, 1)
  expect(await site.calls()).toEqual([])
  await redis.restart()
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(1, 100))
  await site.drop('v2_full.csv', versionFile(2, 100))
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(2, 100))
  expect(daemon.running).toBe(true)
})

async function untilImported(site: Site, files: number): Promise<void> {
  const imported = async () => {
    using mirror = site.openMirror()
    const [newest] = mirror.applied('products' as FeedName)
    return newest !== undefined && newest.sequence === (await site.accepted())[files - 1]?.sequence
  }
  await waitFor(imported, { what: () => `the import\n${site.logs()}` })
}

test.concurrent('a pause holds in a Redis that was wiped, until it is resumed', async () => {
  await using redis = await startRedis()
  await using site = await Site.open({ redisUrl: redis.url })
  await site.start()
  await site.run('pause')
  await site.drop('v1_full.csv', versionFile(1, 100))
  await waitFor(async () => (await site.work()).pending === 100, { what: () => `the import\n${site.logs()}` })
  await site.redis.flushall()
  await site.untilPaused('operator')
  expect(await site.calls()).toEqual([])
  await site.run('resume')
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(1, 100))
})

test.concurrent('a Redis that comes back empty while nothing is to do keeps nothing from going on', async () => {
  await using redis = await startRedis()
  await using site = await Site.open({ redisUrl: redis.url })
  await site.start()
  await site.drop('v1_full.csv', versionFile(1, 100))
  await site.untilQuiet()
  await redis.kill()
  await redis.restart()
  await waitFor(async () => (await site.work().catch(() => undefined)) !== undefined, { what: 'Redis' })
  await site.redis.flushall()
  await site.drop('v2_full.csv', versionFile(2, 100))
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(2, 100))
})
