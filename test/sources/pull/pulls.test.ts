import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FeedConfig } from '../../../src/config/model.ts'
import type { CatalogName } from '../../../src/lib/brand.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { openRedis, type RedisConnections } from '../../../src/redis/connections.ts'
import { hasSchedules, readNextDue } from '../../../src/redis/next-due.ts'
import { openManifest } from '../../../src/sources/manifest.ts'
import { openSources } from '../../../src/sources/sources.ts'
import { waitFor } from '../../support/events.ts'
import { leakCheck } from '../../support/leak-check.ts'
import { collectLog } from '../../support/log-lines.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { startFeedServer, status, whole } from '../support/feed-server.ts'
import { openPullSite, urlPull } from '../support/pull-site.ts'
import { catalogOf, feedNamed } from '../support/setup.ts'
import { canMount, mountSmallDisk } from '../support/small-disk.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const catalog = 'main' as CatalogName
const files = [{ pattern: '*', mode: 'full' as const }]

async function open(
  dir: string,
  redis: RedisServer,
  feeds: readonly FeedConfig[],
  whenConnected = async (_connections: RedisConnections): Promise<void> => {},
) {
  const { log, lines } = collectLog()
  const clock = systemClock
  const connections = await openRedis({ address: { kind: 'url', url: redis.url }, clock, log })
  await whenConnected(connections)
  const manifest = await openManifest({ dir, clock })
  const notices = new Map<string, string>()
  const sources = await openSources({
    catalog: catalogOf(feeds),
    dir,
    manifest,
    clock,
    log,
    connections,
    onAccepted: () => {},
    onDecision: () => {},
    onNotice: (key, text) => (text === undefined ? notices.delete(key) : notices.set(key, text)),
    rescanMs: 100,
  })
  return {
    connections,
    notices,
    lines,
    names: () => [...manifest.files()].map(({ name }) => name),
    [Symbol.asyncDispose]: async () => {
      await sources[Symbol.asyncDispose]()
      await manifest[Symbol.asyncDispose]()
      await connections[Symbol.asyncDispose]()
    },
  }
}

function pulled(name: string, url: string, everyMs: number): FeedConfig {
  const schedule = { kind: 'every' as const, everyMs }
  return feedNamed(name, '', { files, pull: urlPull(url, {}, { schedule }) })
}

describe('feeds that are fetched', () => {
  test('are fetched when they are due, until they are configured no longer', async () => {
    await using dir = await tempDir('pulls')
    await using redis = await startRedis()
    await using server = await startFeedServer([whole('a\n1\n'), whole('a\n2\n'), status(304)])
    {
      await using site = await open(dir.path, redis, [pulled('stock', `${server.url}/stock.csv`, 100)])
      await waitFor(() => server.requests.length > 3)
      expect(site.names()).toEqual(['stock.csv', 'stock.csv'])
      expect(await readNextDue(site.connections, { catalog, id: 'pull-stock' })).toBeGreaterThan(0)
    }
    await using site = await open(dir.path, redis, [])
    await waitFor(async () => !(await hasSchedules(site.connections, catalog)))
  })

  test('are fetched again when Redis is back, or has lost everything', async () => {
    await using dir = await tempDir('pulls')
    await using redis = await startRedis()
    await using server = await startFeedServer([whole('a\n1\n')])
    await using site = await open(dir.path, redis, [pulled('stock', server.url, 100)])
    await waitFor(() => server.requests.length > 1)
    await redis.stop()
    await waitFor(() => site.connections.failure !== undefined)
    await redis.restart()
    const { length } = server.requests
    await waitFor(() => server.requests.length > length + 1)
    await site.connections.commands.flushall()
    const after = server.requests.length
    await waitFor(() => server.requests.length > after + 1)
    expect(site.names()).toEqual(['stock'])
  })

  test('that are configured no longer are asked for again when Redis is back', async () => {
    await using dir = await tempDir('pulls')
    await using redis = await startRedis()
    await using server = await startFeedServer([whole('a\n1\n')])
    {
      await using site = await open(dir.path, redis, [pulled('stock', server.url, 3_600_000)])
      await waitFor(() => hasSchedules(site.connections, catalog))
    }
    await using site = await open(dir.path, redis, [], async (connections) => {
      await redis.stop()
      await waitFor(() => connections.failure !== undefined)
    })
    await waitFor(() => site.lines.some(({ msg }) => msg === 'schedules cannot be kept at present'))
    await redis.restart()
    await waitFor(async () => !(await hasSchedules(site.connections, catalog).catch(() => true)))
  })

  test('what fails is tried again by itself, and told until it is over', async () => {
    await using dir = await tempDir('pulls')
    await using redis = await startRedis()
    await using server = await startFeedServer([status(503), status(404), whole('a\n1\n')])
    // Far too seldom for what follows to be of the schedule: the first pause is as long as it, at most 30 s.
    await using site = await open(dir.path, redis, [pulled('stock', server.url, 200)])
    await waitFor(() => site.notices.get('pull:stock')?.includes('404'))
    await waitFor(() => site.names().length === 1)
    await waitFor(() => !site.notices.has('pull:stock'))
    expect(site.lines.filter(({ level }) => level === 'warn')).toHaveLength(2)
  })

  test('end with the process, in the middle of a fetch', async () => {
    await using dir = await tempDir('pulls')
    await using redis = await startRedis()
    await using server = await startFeedServer([
      (_request, response) => {
        response.writeHead(200, { 'content-length': 1000 })
        response.write('a')
      },
    ])
    {
      await using _site = await open(dir.path, redis, [pulled('stock', server.url, 3_600_000)])
      await waitFor(() => server.requests.length === 1)
    }
    // The next process begins again, and the operator is told nothing.
    server.answers[0] = whole('a\n1\n')
    await using site = await open(dir.path, redis, [pulled('stock', server.url, 3_600_000)])
    await waitFor(() => site.names().length === 1)
    expect(site.notices.size).toBe(0)
  })

  test('that were cut off, or are at another address now, do not wait for their schedule', async () => {
    await using dir = await tempDir('pulls')
    await using redis = await startRedis()
    await using server = await startFeedServer([
      whole('a\n1\n'),
      (_request, response) => {
        response.writeHead(200, { 'content-length': 1000 })
        response.write('a')
      },
    ])
    {
      await using site = await open(dir.path, redis, [pulled('stock', server.url, 100)])
      await waitFor(() => server.requests.length === 2)
      expect(site.names()).toHaveLength(1)
    }
    const atNewYear = { kind: 'cron' as const, pattern: '0 0 1 1 *', zone: 'UTC' }
    const yearly = (url: string) =>
      feedNamed('stock', '', { files, pull: urlPull(url, {}, { schedule: atNewYear }) })
    server.answers[0] = whole('a\n2\n')
    {
      await using site = await open(dir.path, redis, [yearly(server.url)])
      await waitFor(() => site.names().length === 2)
    }
    server.answers[0] = whole('a\n3\n')
    await using site = await open(dir.path, redis, [yearly(`${server.url}/new.csv`)])
    await waitFor(() => site.names().length === 3)
    expect(server.requests).toHaveLength(4)
  })
})

test.skipIf(!canMount)(
  'nothing is fetched while the disk is full (needs root on Linux to mount one)',
  async () => {
    await using dir = await tempDir('pulls')
    await using server = await startFeedServer([whole('a\n1\n')])
    await using _disk = mountSmallDisk(dir.join('state'), 10)
    await using site = await openPullSite({ dir: dir.join('state'), pull: urlPull(server.url) })
    expect(await site.fetch()).toBe(30_000)
    expect(site.notices.get('disk')).toMatch(/is full/)
    expect(site.trouble()).toBeUndefined()
    expect(server.requests).toEqual([])
  },
)
