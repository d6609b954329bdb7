import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CatalogName } from '../../src/lib/brand.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { Site } from './site.ts'
import { expectedDocuments, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 2_000
const keys = catalogKeys('main' as CatalogName)

/** Sets how much of its memory Redis uses at present; it may use less of it later. */
async function useShare({ redis }: Site, percent: number): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
  await redis.config('SET', 'maxmemory', Math.floor((used * 100) / percent))
}

test.each([
  ['full', 180],
  ['nearly full', 85],
])(
  'a Redis that is %s during a load is drained to the end; imports go on, and the rest by itself',
  {
    timeout: 300_000,
  },
  async (_, percent) => {
    await using redis = await startRedis({ aof: true })
    await using site = await Site.open({ redisUrl: redis.url, latencyMs: 50 })
    let daemon = await site.start()
    // Redis has changes of products, and new ones only where another process delivers, too.
    await site.drop('v1_full.csv', versionFile(1, products))
    await site.untilQuiet()
    await site.run('pause')
    await site.drop('v2_full.csv', versionFile(2, products))
    const isOffered = async () => {
      const { pending } = await site.work()
      return pending > products / 2 && (await site.redis.hlen(keys.pending)) === pending
    }
    await waitFor(isOffered, {
      what: () => `the second import offered\n${site.logs()}`,
      withinMs: 180_000,
    })
    await useShare(site, percent)
    // Nothing is delivered yet that would make room.
    const status = await site.spawn('status')
    expect((await status.ended()).code).toBe(4)
    expect(status.stdout).toContain('imports go on')
    await site.run('resume')
    // Also by a daemon that finds it so.
    await daemon.kill('SIGKILL')
    daemon = await site.start()
    await site.drop('v3_full.csv', versionFile(3, products))
    await site.untilAccepted()
    const imported = async () => {
      const { applied, last } = await site.work()
      return applied === last
    }
    await waitFor(imported, { withinMs: 120_000, what: () => `the third import\n${site.logs()}` })
    await waitFor(async () => (await site.redis.hlen(keys.pending)) === 0, {
      withinMs: 120_000,
      what: () => `all that Redis held at the endpoint\n${site.logs()}`,
    })
    expect(daemon.running).toBe(true)

    await site.redis.config('SET', 'maxmemory', '0')
    await site.untilQuiet()
    await site.expectDocuments(expectedDocuments(3, products))
  },
)
