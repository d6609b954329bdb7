import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { Site } from './site.ts'
import { expectedDocuments, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 20

test('while Redis is away the operator sees what the disk knows, and decides', {
  timeout: 600_000,
}, async () => {
  await using redis = await startRedis({ aof: true })
  await using site = await Site.open({ redisUrl: redis.url })
  const daemon = await site.start()
  await site.drop('v001_full.csv', versionFile(1, products))
  await site.untilQuiet()
  await redis.stop()

  await site.drop('v002_full.csv', versionFile(2, products))
  using mirror = site.openMirror()
  const imported = () => [...mirror.applied('products' as FeedName)].length === 2
  await waitFor(imported, { what: 'the file imported without Redis' })
  const status = await site.spawn('status', '--json')
  expect(await status.ended()).toMatchObject({ code: 4 })
  const { redis: seen, catalogs } = JSON.parse(status.stdout)
  expect(seen).toMatchObject({ up: false, error: expect.stringContaining('ECONNREFUSED') })
  expect(catalogs[0]).toMatchObject({
    health: 'stopped',
    overview: { products, pending: expect.any(Number) },
    feeds: [{ lastFile: { name: 'v002_full.csv', outcome: 'imported' }, waitingFiles: 0 }],
  })
  expect(catalogs[0].overview.pending).toBeGreaterThan(0)

  expect(await site.run('pause')).toContain('Paused')
  for (const command of [
    ['why', 'p1'],
    ['dead', 'list'],
  ]) {
    const reads = await site.spawn(...command)
    await reads.ended()
    expect(reads.stdout.length, command.join(' ')).toBeGreaterThan(10)
    expect(reads.stderr, command.join(' ')).toBe('')
  }
  const load = await site.spawn('load', 'products', site.path('catalogd.yaml'))
  expect(await load.ended(), load.stderr).toMatchObject({ code: 4 })
  expect(load.stderr).toContain('cannot be reached')

  // What was decided meanwhile counts when Redis is back.
  await redis.restart()
  const isPaused = () =>
    site.untilPaused('operator').then(
      () => true,
      () => false,
    )
  await waitFor(isPaused, { what: 'the pause of before' })
  // One line when Redis went away, one when it was back, no stack. The command may see the pause before the line is written.
  await waitFor(() => daemon.stderr.includes('Redis is back'), { what: 'the line that Redis is back' })
  const told = daemon.stderr.split('\n').filter((line) => /"level":"(warn|error)"|Redis is back/.test(line))
  expect(told.filter((line) => line.includes('Redis cannot be reached'))).toHaveLength(1)
  expect(told.filter((line) => line.includes('Redis is back'))).toHaveLength(1)
  expect(told.join('\n')).not.toContain('    at ')
  expect(told.join('\n')).not.toContain('delivery waits')
  await site.run('resume')
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(2, products))
})
