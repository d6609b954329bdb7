import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import type { CatalogName, FeedName, ProductId } from '../../src/lib/brand.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { TicketRunner } from '../../src/redis/ticket-runner.ts'
import { openManifest } from '../../src/sources/manifest.ts'
import { upgradeCatalog } from '../../src/upgrade/upgrade.ts'
import { dump } from '../mirror/dump.ts'
import { canMount, mountSmallDisk } from '../sources/support/small-disk.ts'
import { startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { oldProducts, standings, stateId, writeOldStore } from './old-store.ts'

const catalog = 'main' as CatalogName
const products = 'products' as FeedName
const id = (text: string) => text as ProductId

/** A Redis and the folder of a catalog, which version 1 has left. */
async function openOld({ count = standings.length, megabytes = 0 } = {}) {
  const stack = new AsyncDisposableStack()
  const server = stack.use(await startRedis())
  const root = stack.use(await tempDir('upgrade'))
  const dir = root.join('main')
  if (megabytes > 0) stack.use(mountSmallDisk(dir, megabytes))
  const redis = new Redis(server.url)
  stack.defer(() => redis.disconnect())
  const { log, lines } = collectLog()
  const address = { kind: 'url', url: server.url } as const
  const connections = stack.use(await openRedis({ address, clock: systemClock, log }))
  const file = `${dir}/catalog.db`
  const begin = async () => {
    await redis.flushall()
    if (megabytes === 0) await rm(dir, { recursive: true, force: true })
    await mkdir(dir, { recursive: true })
    await writeOldStore(redis, dir, oldProducts(count))
  }
  await begin()
  const upgrade = async (clock: Clock = systemClock) => {
    await using manifest = await openManifest({ dir, clock: systemClock })
    let steps = 0
    const advance = () => {
      steps += 1
    }
    const work = { advance, wait: () => ({ [Symbol.dispose]: () => undefined }) }
    await upgradeCatalog({ catalog, file, manifest, connections, clock, log, work })
    return steps
  }
  return {
    ...{ dir, file, redis, connections, log, lines, url: server.url, begin, upgrade },
    keys: async () => (await redis.keys('*')).sort(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

type Standing = [number, number | null, number | null, unknown, unknown, string, string | null, number]

const sending = (file: string) => {
  const { standing: rows = [], products: names = [] } = dump(file)
  const nameOf = new Map((names as [number, string][]).map(([key, name]) => [key, name]))
  const placed = (rows as Standing[]).filter((row) => row[7] === 1)
  return Object.fromEntries(
    placed.map(([key, lane, , , , digest, acknowledged]) => {
      const how = acknowledged === digest ? 'believed' : acknowledged === '' ? 'doubt' : acknowledged
      return [nameOf.get(key)?.split('-')[0], [lane, how]]
    }),
  )
}

test('what was acknowledged is believed, and whatever was pending or under way has a place as a doubt', async () => {
  await using old = await openOld()
  await old.upgrade()
  expect(sending(old.file)).toEqual({
    acknowledged: [null, 'believed'],
    refused: [null, '01'.repeat(16)],
    new: [1, 'doubt'],
    deferred: [1, 'doubt'],
    undecided: [1, 'doubt'],
    urgent: [0, 'doubt'],
    claimed: [0, 'doubt'],
    echoed: [0, 'doubt'],
    doubted: [0, 'doubt'],
  })
  using mirror = new MirrorReader(old.file)
  expect(mirror.deadLetters()).toEqual([
    { productId: 'refused-6', reason: 'no image', status: 400, requestId: 'r-1', at: expect.any(String) },
  ])
  expect(mirror.count()).toMatchObject({ products: 9, incomplete: 1, dead: 1 })
  const [whole, half] = [id('acknowledged-0'), id('incomplete-9')]
  const stored = mirror.read([whole, half])
  expect(stored.get(whole)).toMatchObject({ meta: 'products=37j', partial: undefined })
  expect(JSON.parse(String(stored.get(whole)?.document))).toMatchObject({ name: 'Pan 0' })
  expect(stored.get(half)).toMatchObject({
    ...{ document: undefined, meta: 'products=g' },
    partial: Buffer.from('{"price":5}'),
  })
  expect(mirror.incomplete(10)).toEqual([{ productId: half, missing: 'name,url' }])
  expect(mirror.switchesDue(9_000_000_000_000, 10)).toEqual([half])
})

test('decisions, holds, keys, and what was applied move along; only what is not of products stays behind', async () => {
  await using old = await openOld()
  await old.upgrade()
  using mirror = new MirrorReader(old.file)
  expect([...mirror.applied(products)].map(({ key }) => key)).toEqual(['claim-2', 'claim-1'])
  expect([...mirror.applied('*')].map(({ key }) => key)).toEqual(['request-3'])
  expect(mirror.counts('claim-4')).toEqual({ added: 5 })
  expect(mirror.held().get(products)).toContain('"sequence":2')
  expect(mirror.heldIds(products, 10)).toEqual(['acknowledged-0'])
  expect(mirror.fullAsOf(products)).toBe('{"asOf":"2026-11-21"}')
  expect([...mirror.notices().keys()]).toEqual(['failed:products'])
  expect(mirror.calls()).toEqual({ decision: 'pause', at: '2026-11-22T20:31:26.184Z' })
  expect(mirror.keyFields()).toEqual(['name'])
  const found = mirror.lookUp({ field: 'name', values: ['Pan 4'] })
  expect(found.get('Pan 4')).toEqual(['claimed-4'])
  expect(dump(old.file).dropped).toEqual([['acknowledged-0', '07'.repeat(16)]])
  expect(Date.now() - mirror.madeAtMs()).toBeLessThan(600_000)
  expect(await old.keys()).toEqual(['catalogd:{main}:2:counters', 'catalogd:{main}:2:pause'])
})

test('killed at any step, it begins again or goes on, and ends as if nothing had happened', {
  timeout: 900_000,
}, async () => {
  await using old = await openOld({ count: 2_500 })
  const steps = await old.upgrade()
  const wanted = comparable(old.file)
  const remaining = await old.keys()
  expect(steps).toBeGreaterThan(5)
  for (let killAt = 1; killAt <= steps; killAt += 1) {
    await old.begin()
    const script = new URL('upgrade-once.ts', import.meta.url)
    await using child = await startChild(script, { args: [old.dir, old.url, String(killAt)] })
    expect(await child.ended(), child.stderr).toMatchObject({ signal: 'SIGKILL' })
    await old.upgrade()
    expect([killAt, comparable(old.file)]).toEqual([killAt, wanted])
    expect(await old.keys()).toEqual(remaining)
    expect(existsSync(`${old.file}.upgrading`)).toBe(false)
  }
})

test('keys that a crash has left are removed later, and the mirror stays as it is', async () => {
  await using old = await openOld()
  await old.upgrade()
  const [mirror, remaining] = [dump(old.file), await old.keys()]
  const left = old.redis.multi().set('catalogd:{main}:origin', stateId).hset('catalogd:{main}:meta', 'x', 'y')
  await left.set('catalogd:{main}:deliveries:id', '3').exec()
  await old.upgrade()
  expect([dump(old.file), await old.keys()]).toEqual([mirror, remaining])
})

/** Without what is random, or depends on the time or on the order in which a hash is read. */
function comparable(file: string): unknown {
  const { products: rows = [], facts = [], imports, dropped } = dump(file)
  const names = new Map((rows as [number, string][]).map(([key, name]) => [key, name]))
  const { standing: placed = [], key_index: keys = [] } = dump(file)
  const lanes = (placed as unknown[][]).map(([key, lane, , , known, ...digests]) =>
    JSON.stringify([names.get(key as number), lane, known, digests.slice(0, 2)]),
  )
  const isKept = ([kind]: unknown[]) => kind !== 'identity'
  return {
    ...{ imports, dropped, lanes: lanes.sort(), facts: (facts as unknown[][]).filter(isKept) },
    keys: (keys as unknown[][]).map(([field, value, key]) => [field, value, names.get(key as number)]),
  }
}

test('a host of version 1 that still runs is to be stopped first', async () => {
  await using old = await openOld()
  const { connections, log } = old
  const asOld = { queue: 'deliveries', prefix: 'catalogd:{main}', concurrency: 1 }
  const worker = new TicketRunner({
    connections,
    clock: systemClock,
    log,
    ...asOld,
    onTicket: async () => {},
  })
  try {
    await waitFor(async () => String(await old.redis.client('LIST')).includes('name=catalogd:{main}:'))
    const before = await old.keys()
    await expect(old.upgrade()).rejects.toMatchObject({ code: 'old-host-runs' })
    expect(await old.keys()).toEqual(expect.arrayContaining(before))
  } finally {
    await worker[Symbol.asyncDispose]()
  }
})

test('a lease is waited for until it ends, and one that is renewed is refused', async () => {
  await using old = await openOld()
  const leases = 'catalogd:{main}:leases'
  await old.redis.zadd(leases, Date.now() + 60_000, 'token')
  const waits = (then: () => Promise<unknown>): Clock => ({
    ...systemClock,
    sleep: async () => void (await then()),
  })
  const renew = () => old.redis.zadd(leases, Date.now() + 120_000, 'token')
  await expect(old.upgrade(waits(renew))).rejects.toMatchObject({ code: 'old-host-runs' })
  expect(existsSync(old.file)).toBe(false)
  await old.upgrade(waits(() => old.redis.zadd(leases, 1, 'token')))
  expect(existsSync(old.file)).toBe(true)
})

test.each(['emptied', 'of another folder'])('a Redis that is %s is no state to go on with', async (what) => {
  await using old = await openOld()
  if (what === 'emptied') await old.redis.flushall()
  else await old.redis.set('catalogd:{main}:origin', 'another')
  const before = await old.keys()
  const failure = await old.upgrade().catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'mirror-missing' })
  expect((failure as { hint: string }).hint).toContain(
    'catalogd restore makes the catalog anew of the archive',
  )
  expect([await old.keys(), existsSync(old.file)]).toEqual([before, false])
})

test.runIf(canMount)(
  'a disk without room for the catalog is refused before anything is written',
  async () => {
    await using old = await openOld({ megabytes: 20 })
    await expect(old.upgrade()).rejects.toMatchObject({ code: 'disk-full' })
    expect(existsSync(`${old.file}.upgrading`)).toBe(false)
  },
)
