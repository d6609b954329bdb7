import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CatalogName } from '../../src/lib/brand.ts'
import { queuePrefix } from '../../src/redis/next-due.ts'
import { Site } from '../fault/site.ts'
import { expectedDocuments, versionFile } from '../fault/versions.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 50

test('a process that imports but does not deliver makes tickets that wake those that do', async () => {
  await using redis = await startRedis()
  await using site = await Site.open({ redisUrl: redis.url })
  const untilTicket = async (id: string) => {
    const key = `${queuePrefix('main' as CatalogName)}:deliveries:${id}`
    await waitFor(async () => (await site.redis.exists(key)) === 1, { what: () => `${id}:\n${site.logs()}` })
  }
  await site.redis.connect()
  const importer = await site.start({ args: ['start', '--roles', 'watch,import'] })
  await site.drop('v1_full.csv', versionFile(1, products))
  await untilTicket('bulk.offered.0')
  const deliverer = await site.spawn('start', '--roles', 'deliver')
  await site.untilQuiet()
  await deliverer.kill('SIGTERM')
  await site.drop('v2_full.csv', versionFile(2, products))
  await untilTicket('urgent.offered')
  await site.spawn('start', '--roles', 'deliver')
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(2, products))
  expect(importer.running).toBe(true)
})
