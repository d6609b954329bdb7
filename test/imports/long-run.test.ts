import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../src/config/load.ts'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { openService } from '../../src/service.ts'
import { openRecordingEndpoint } from '../fault/recording-endpoint.ts'
import { openOnce } from '../outbox/harness.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { startRedis } from '../support/redis-server.ts'
import { shiftedClock } from '../support/shifted-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { feed, row } from './harness.ts'

const leaks = leakCheck()
beforeEach(() => leaks.remember())
afterEach(() => leaks.check())

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const withinMs = 240_000

/** The service in this process with a real Redis and a real endpoint; its time passes as the test says. */
async function openSite(settings: { keep: string; missing: string }) {
  const stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir('long-run'))
  const server = stack.use(await startRedis())
  const endpoint = stack.use(await openRecordingEndpoint())
  const redis = await openOnce(server.url)
  stack.defer(() => redis.disconnect())
  const shifted = shiftedClock()
  let passes = 0
  const clock: Clock = {
    ...shifted.clock,
    sleep: (delayMs, signal) => {
      // Between two passes of the retention; nothing else sleeps for an hour.
      if (delayMs === hourMs) passes += 1
      return shifted.clock.sleep(delayMs, signal)
    },
  }
  await mkdir(dir.join('drop'))
  await writeFile(
    dir.join('catalogd.yaml'),
    `state: ./state
redis: ${server.url}
archive: { keep: ${settings.keep} }
catalogs:
  main:
    api: { url: "${endpoint.url}", productsToken: t }
    delivery: { timeout: 1s, horizon: 1s, callsPerSecond: 200 }
    feeds:
      products: { drop: ./drop, files: "*.csv", settle: 0s, missing: ${settings.missing} }
`,
  )
  const { config } = await readConfig({ file: dir.join('catalogd.yaml'), env: {} })
  const { log, lines } = collectLog()
  const connections = stack.use(await openRedis({ address: { kind: 'url', url: server.url }, clock, log }))
  const failures: unknown[] = []
  stack.use(
    await openService({
      ...{ config, connections, clock, log, catalogs: [...config.catalogs.values()] },
      roles: new Set(['watch', 'import', 'deliver'] as const),
      onFatal: (error) => failures.push(error),
    }),
  )
  const mirrorFile = dir.join('state/main/catalog.db')
  const look = <T>(read: (mirror: MirrorReader) => T): T => {
    using mirror = new MirrorReader(mirrorFile)
    return read(mirror)
  }
  const wait = (what: string, isSo: () => boolean | Promise<boolean>) =>
    waitFor(
      async () => {
        if (failures.length > 0) throw failures[0]
        return isSo()
      },
      {
        withinMs,
        what: () =>
          `${what}:\n${lines
            .slice(-15)
            .map((line) => JSON.stringify(line))
            .join('\n')}`,
      },
    )
  let dropped = 0
  return {
    ...{ dir, endpoint, redis, wait },
    isKnown: (id: string) =>
      look((mirror) => [...mirror.pages()].flat().some(({ productId }) => productId === id)),
    async import(...rows: string[]) {
      dropped += 1
      await writeFile(dir.join('file'), feed(...rows))
      await rename(dir.join('file'), dir.join('drop', `${dropped}.csv`))
      await wait(`file ${dropped} to be imported`, () => {
        if (!existsSync(mirrorFile)) return false
        const [newest] = look((mirror) => [...mirror.applied('products' as FeedName)])
        return newest?.sequence === dropped
      })
    },
    untilSent: (id: string) =>
      wait(`${id} to be sent`, () => look((mirror) => !mirror.isUnsent(id as ProductId))),
    isNotedAbsent: (id: string) => look((mirror) => mirror.absentSince([id as ProductId]).size > 0),
    /** A pass of the retention is made at the end of it. */
    async pass(ms: number) {
      const before = passes
      shifted.advance(ms)
      await wait('a pass of the retention', () => passes > before)
    },
    /** Products that no feed names are noted, and forgotten, in one pass of 24. */
    async passUntil(isSo: () => boolean) {
      for (let pass = 0; pass < 25 && !isSo(); pass += 1) await this.pass(hourMs)
      expect(isSo()).toBe(true)
    },
    untilPrices: (expected: Readonly<Record<string, number>>) =>
      wait('the endpoint holds the newest prices', () =>
        Object.entries(expected).every(([id, price]) => endpoint.products.get(id)?.price === price),
      ),
    untilOutOfStock: (id: string) =>
      wait(`${id} out of stock`, () => endpoint.products.get(id)?.availability === 'OutOfStock'),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** What is kept for good, a line an event, or has a bound of its own: SQLite's log, and that of calls. */
const apart = /manifest\.ndjson$|-wal$|\/calls\//

async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = `${entry.parentPath}/${entry.name}`
    if (!entry.isFile() || apart.test(path)) continue
    const found = await stat(path).catch(() => undefined)
    bytes += found?.size ?? 0
  }
  return bytes
}

it('60 days with keep: 7d: the disk stays bounded, and FLUSHALL on the last one loses nothing', {
  timeout: 900_000,
}, async () => {
  await using site = await openSite({ keep: '7d', missing: '{ atMost: 100% }' })
  const { dir, endpoint, redis } = site
  const prices = (day: number) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, place) => [`p${place}`, day * 100 + place]))
  const rows = (day: number) =>
    Object.entries(prices(day)).map(([id, price]) => row(id, { price: `${price}` }))
  const bytes: number[] = []
  for (let day = 1; day < 60; day += 1) {
    // A record that is rejected, so that reports and rejected records are there, too; a product of the first day alone.
    await site.import(...rows(day), row('bad', { price: 'none' }), ...(day === 1 ? [row('once')] : []))
    await site.untilPrices(prices(day))
    await site.pass(dayMs)
    bytes.push(await bytesBelow(dir.join('state')))
  }
  const [week, last] = [bytes.slice(7, 20), bytes.slice(-13)]
  expect(Math.max(...last)).toBeLessThan(1.2 * Math.max(...week))
  expect((await stat(dir.join('state/main/manifest.ndjson'))).size).toBeLessThan(60 * 1_000)
  expect((await readdir(dir.join('state/main/archive'))).length).toBeLessThanOrEqual(9)
  expect((await readdir(dir.join('state/main/reports'))).length).toBeLessThanOrEqual(2 * 9)
  endpoint.status = 503
  const calls = endpoint.calls.length
  await site.import(...rows(60), row('bad', { price: 'none' }))
  await site.wait('a call that fails', () => endpoint.calls.length > calls)
  await redis.flushall()
  endpoint.status = 200
  await site.untilPrices(prices(60))
  expect(site.isKnown('once')).toBe(true)
  expect(endpoint.products.size).toBe(21)
  await site.import(...rows(61))
  await site.untilPrices(prices(61))
})

it('a product that has a place is not forgotten while the endpoint answers 503 for 91 days', {
  timeout: 900_000,
}, async () => {
  await using site = await openSite({ keep: '7d', missing: '{ atMost: 100%, forget: 90d }' })
  const { endpoint } = site
  await site.import(row('a'), row('b'), row('c'))
  await site.wait('all three', () => endpoint.products.size === 3)
  await site.import(row('a'), row('b'))
  await site.untilOutOfStock('c')
  endpoint.status = 503
  await site.import(row('a'))
  await site.passUntil(() => site.isNotedAbsent('b'))
  await site.pass(89 * dayMs)
  for (let hour = 0; hour < 23; hour += 1) await site.pass(hourMs)
  expect(site.isKnown('c')).toBe(true)
  await site.pass(dayMs)
  await site.passUntil(() => !site.isKnown('c'))
  expect(site.isKnown('b')).toBe(true)
  expect(endpoint.products.get('b')).toMatchObject({ availability: 'InStock' })
  endpoint.status = 200
  await site.untilOutOfStock('b')
  await site.untilSent('b')
  await site.passUntil(() => !site.isKnown('b'))
  expect(site.isKnown('a')).toBe(true)
})
