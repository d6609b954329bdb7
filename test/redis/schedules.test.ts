import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CatalogName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { hasSchedules, readNextDue } from '../../src/redis/next-due.ts'
import { openSchedules, type Schedule } from '../../src/redis/schedules.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const catalog = 'main' as CatalogName
const every = (id: string, everyMs: number): Schedule => ({ id, at: { kind: 'every', everyMs } })
const nightly = (id: string): Schedule => ({
  id,
  at: { kind: 'cron', pattern: '15 3 * * *', zone: 'Europe/Berlin' },
})

async function open(server: RedisServer) {
  const { log } = collectLog()
  const connections = await openRedis({ address: { kind: 'url', url: server.url }, clock: systemClock, log })
  const schedules = await openSchedules({ connections, catalog, clock: systemClock, log })
  const due: string[] = []
  return {
    connections,
    schedules,
    due,
    run: () => schedules.run({ concurrency: 2, onDue: async (id) => void due.push(id) }),
    next: (id: string) => readNextDue(connections, { catalog, id }),
    [Symbol.asyncDispose]: async () => {
      await schedules[Symbol.asyncDispose]()
      await connections[Symbol.asyncDispose]()
    },
  }
}

describe('schedules', () => {
  test('are asked for while Redis is away with an answer that says so', async () => {
    await using server = await startRedis()
    await using site = await open(server)
    await server.stop()
    await waitFor(() => site.connections.failure !== undefined)
    const down = { code: 'redis-down' }
    await expect(hasSchedules(site.connections, catalog)).rejects.toMatchObject(down)
    await expect(site.next('pull-stock')).rejects.toMatchObject(down)
    await expect(site.schedules.set([every('pull-stock', 100)])).rejects.toMatchObject(down)
  })

  test('are due at once and then again and again; those that are set no longer go', async () => {
    await using server = await startRedis()
    await using site = await open(server)
    expect(await hasSchedules(site.connections, catalog)).toBe(false)
    await site.schedules.set([
      every('pull-stock', 100),
      every('pull-old', 3_600_000),
      nightly('pull-products'),
    ])
    await using _running = site.run()
    await waitFor(() => site.due.filter((id) => id === 'pull-stock').length >= 3)
    expect(site.due.filter((id) => id === 'pull-old')).toHaveLength(1)
    expect(site.due).not.toContain('pull-products')
    const at = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' })
    expect(at.format(await site.next('pull-products'))).toBe('03:15')
    await site.schedules.set([nightly('pull-products')])
    expect(await site.next('pull-stock')).toBeUndefined()
    expect(await site.next('pull-old')).toBeUndefined()
    await site.schedules.set([])
    expect(await hasSchedules(site.connections, catalog)).toBe(false)
  })

  test('set again are left alone: what was missed is due once', async () => {
    await using server = await startRedis()
    const schedules = [every('pull-stock', 200), nightly('pull-products')]
    {
      await using site = await open(server)
      await site.schedules.set(schedules)
      // As if nobody had been there for a night.
      const { commands } = site.connections
      const keys = await commands.keys('catalogd:{main}:2:schedules:repeat:pull-products:*')
      const [old = ''] = keys
      const yesterday = Date.now() - 86_400_000
      const jobId = `repeat:pull-products:${yesterday}`
      await commands.rename(old, old.replace(/\d+$/, String(yesterday)))
      await commands.zrem(
        'catalogd:{main}:2:schedules:delayed',
        `repeat:pull-products:${old.split(':').at(-1)}`,
      )
      await commands.zadd('catalogd:{main}:2:schedules:delayed', yesterday * 0x1000, jobId)
      await commands.zadd('catalogd:{main}:2:schedules:repeat', yesterday, 'pull-products')
    }
    await using site = await open(server)
    await site.schedules.set(schedules)
    await using _running = site.run()
    await waitFor(() => site.due.includes('pull-products') && site.due.length > 3)
    expect(site.due.filter((id) => id === 'pull-products')).toEqual(['pull-products'])
    expect(await site.next('pull-products')).toBeGreaterThan(Date.now())
  })

  test('that Redis lost in part are whole again once they are set again', async () => {
    await using server = await startRedis()
    await using site = await open(server)
    await site.schedules.set([every('pull-stock', 300)])
    const { commands } = site.connections
    await commands.del(...(await commands.keys('catalogd:{main}:2:schedules:repeat:pull-stock:*')))
    await commands.del('catalogd:{main}:2:schedules:delayed', 'catalogd:{main}:schedules:wait')
    await site.schedules.set([every('pull-stock', 300)])
    await using _running = site.run()
    await waitFor(() => site.due.length === 1)
  })

  test('may be asked for once more, earlier', async () => {
    await using server = await startRedis()
    await using site = await open(server)
    await site.schedules.runIn('pull-stock', 3_600_000)
    await using _running = site.run()
    await site.schedules.runIn('pull-stock', 0)
    await waitFor(() => site.due.length === 1)
    expect(site.due).toEqual(['pull-stock'])
  })
})
