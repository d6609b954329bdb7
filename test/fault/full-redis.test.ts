import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { Site } from './site.ts'
import { expectedDocuments, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 2_000

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
    await site.run('pause')
    await site.drop('v1_full.csv', versionFile(1, products))
    await waitFor(async () => (await site.work()).applied === (await site.accepted())[0]?.sequence, {
      what: 'the first import',
      withinMs: 180_000,
    })
    await site.run('resume')
    await useShare(site, percent)
    // Also by a daemon that finds it so.
    await daemon.kill('SIGKILL')
    daemon = await site.start()
    await site.drop('v2_full.csv', versionFile(2, products))
    await site.untilAccepted()
    const imported = async () => {
      const { applied, last } = await site.work()
      return applied === last
    }
    await waitFor(imported, { withinMs: 120_000, what: () => `the second import\n${site.logs()}` })
    await waitFor(async () => (await site.summary()).products === products, {
      withinMs: 120_000,
      what: () => `all that Redis held at the endpoint\n${site.logs()}`,
    })
    const status = await site.spawn('status')
    expect((await status.ended()).code).toBe(4)
    expect(status.stdout).toContain('imports go on')
    expect(daemon.running).toBe(true)

    await site.redis.config('SET', 'maxmemory', '0')
    await site.untilQuiet()
    await site.expectDocuments(expectedDocuments(2, products))
  },
)
