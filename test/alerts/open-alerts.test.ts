import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openAlerts } from '../../src/alerts/open-alerts.ts'
import { openOutbox } from '../../src/catalog-storage.ts'
import type { AlertsConfig, FeedConfig } from '../../src/config/model.ts'
import type { AcceptSequence, FeedName, ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openRedis, type RedisConnections } from '../../src/redis/connections.ts'
import { openManifest } from '../../src/sources/manifest.ts'
import { catalogOf, feedNamed } from '../sources/support/setup.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { openTestMirror } from '../support/mirror.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { configOf, openWebhook, secretPath } from './webhook-server.ts'

let shared: RedisServer
beforeAll(async () => {
  shared = await startRedis()
})
afterAll(() => shared[Symbol.asyncDispose]())
const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const feedName = 'products' as FeedName
const minute = 60_000

interface SiteOptions {
  feed?: Partial<FeedConfig>
  config?: Partial<AlertsConfig>
  /** Default: the one of all tests. */
  redis?: RedisServer
}

/** Alerts over a real Redis, mirror and manifest, with a real webhook. `shiftMs` is added to the time of day. */
async function openSite({ feed = {}, config = {}, redis = shared }: SiteOptions = {}) {
  const stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir('alerts'))
  const webhook = stack.use(await openWebhook())
  const { log, lines } = collectLog()
  const time = { shiftMs: 0 }
  const clock = { ...systemClock, now: () => systemClock.now() + time.shiftMs }
  const connections: RedisConnections = stack.use(
    await openRedis({ address: { kind: 'url', url: redis.url }, clock, log }),
  )
  await connections.commands.flushall()
  const catalog = catalogOf([feedNamed(feedName, dir.join('drop'), feed)])
  const manifest = stack.use(await openManifest({ dir: dir.join('state/main'), clock }))
  const outbox = await openOutbox({ catalog, connections, clock })
  const mirror = stack.use(await openTestMirror(dir.join('state/main/catalog.db'), { clock }))
  const looked = { times: 0 }
  const readNotices = mirror.notices.bind(mirror)
  mirror.notices = () => {
    looked.times += 1
    return readNotices()
  }
  const failures: unknown[] = []
  const open = () =>
    openAlerts({
      ...{ config: configOf(webhook.url, config), stateDir: dir.join('state'), connections, clock, log },
      catalogs: [{ catalog, manifest, mirror }],
      onFatal: (error) => failures.push(error),
      lookEveryMs: 20,
      retryAfterMs: 50,
    })
  let alerts = await open()
  stack.defer(async () => {
    await alerts[Symbol.asyncDispose]()
    expect(failures).toEqual([])
  })
  return {
    ...{ webhook, manifest, mirror, outbox, time, lines, connections },
    stateFile: dir.join('state/alerts.json'),
    async restart() {
      await alerts[Symbol.asyncDispose]()
      alerts = await open()
    },
    /** Waits until it has looked so often from now on. */
    async looks(count: number) {
      const before = looked.times
      await waitFor(() => looked.times >= before + count, { what: `${count} looks` })
    },
    async accept(name: string, acceptedAt = new Date(clock.now()).toISOString()) {
      const claim = `claim-${manifest.nextSequence}`
      const file = { claim, feed: feedName, mode: 'full', name, bytes: 1 } as const
      await manifest.append([{ kind: 'accept', ...file, asOf: acceptedAt, acceptedAt }])
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

describe('alerts', () => {
  it('tell a chat nothing but the text, in its form', async () => {
    await using site = await openSite({ config: { format: 'slack' } })
    await site.outbox.pause('credentials', 'Correct <token> & try again')
    const message = await waitFor(() => site.webhook.taken[0], { what: 'a message' })
    expect(Object.keys(message)).toEqual(['text'])
    expect(message.text).toContain('Correct &lt;token&gt; &amp; try again')
  })

  it('keep a monitor informed, but not while an alert is not taken', async () => {
    await using monitor = await openWebhook()
    const url = { available: true, value: () => new URL(monitor.url) }
    await using site = await openSite({ config: { heartbeat: { url, everyMs: 10 } } })
    await waitFor(() => monitor.requests.length >= 3, { what: 'three heartbeats' })
    site.webhook.answers.push(...Array<number>(10_000).fill(500))
    await site.outbox.pause('credentials', 'x')
    await waitFor(() => site.webhook.requests.length > 0, { what: 'an alert that is refused' })
    const before = monitor.requests.length
    await site.looks(5)
    expect(monitor.requests.length).toBe(before)
    site.webhook.answers.length = 0
    await waitFor(() => monitor.requests.length > before, { what: 'heartbeats again' })
  })

  it('tell of wrong credentials, with what to do, and when it is over', async () => {
    await using site = await openSite()
    await site.outbox.pause('credentials', 'Correct the token of anna@shop.example')
    const firing = await site.webhook.until('credentials', 'firing')
    expect(firing).toMatchObject({
      ...{
        subject: 'products',
        severity: 'critical',
        catalog: 'main',
        hint: 'Correct the token of ********',
      },
      message: 'The endpoint refuses the credentials: no products are sent',
      text: expect.stringMatching(/^catalogd on .+: \[critical\] credentials main products: The endpoint/),
    })
    for (const member of ['id', 'since', 'at', 'host', 'version'] as const)
      expect(firing[member]).toBeTruthy()
    await site.outbox.resume('credentials', 'probed')
    const resolved = await site.webhook.until('credentials', 'resolved')
    expect(resolved.id).toBe(firing.id)
    expect(site.webhook.taken).toHaveLength(2)
    const [request] = site.webhook.requests
    expect([request?.path, request?.headers.authorization, request?.headers['content-type']]).toEqual([
      secretPath,
      'Bearer s3cret-token',
      'application/json',
    ])
  })

  it('tell of refusals, lag, dead letters, what is held, and notices', async () => {
    await using site = await openSite()
    const { mirror, webhook, time } = site
    await site.outbox.pause('refuses-everything', 'Look into the dead letters')
    await webhook.until('refuses-everything', 'firing', 'products')
    const [document, productId] = [Buffer.from('{}'), 'p1' as ProductId]
    const write = {
      productId,
      document,
      partial: undefined,
      meta: '',
      incomplete: undefined,
      lane: 'urgent' as const,
    }
    await mirror.update([], () => ({ writes: [write] }))
    time.shiftMs = 6 * minute
    expect((await webhook.until('urgent-lag', 'firing')).message).toMatch(/^1 price .+ the first for 36\d s/)
    mirror.refuse(productId)
    await webhook.until('dead-letters', 'firing')
    const held = { kind: 'removals', sequence: 7, file: 'a.csv', at: '', reason: 'half is missing' }
    const value = JSON.stringify([{ ...held, missing: 5, of: 10 }])
    await mirror.update([], () => ({ writes: [], held: { feed: feedName, value } }))
    expect(await webhook.until('held', 'firing')).toMatchObject({
      ...{ feed: 'products', message: 'Import 7 of a.csv is held: half is missing' },
      hint: 'catalogd approve 7, or catalogd discard 7',
    })
    const notice = (key: string, text: string) => ({ key, value: JSON.stringify({ text, at: '' }) })
    const notices = [
      notice('failed:products', 'Import 8 was refused'),
      notice('pull:products', 'https://shop.example cannot be fetched'),
      notice('ignored:products', 'readme.txt'),
    ]
    await mirror.update([], () => ({ writes: [], notices }))
    await webhook.until('failed', 'firing', 'products')
    await webhook.until('pull', 'firing', 'products')
    await mirror.update([], () => ({ writes: [], held: { feed: feedName, value: undefined } }))
    await webhook.until('held', 'resolved')
    // The refusal ended the lag.
    await webhook.until('urgent-lag', 'resolved')
    expect(webhook.taken).toHaveLength(8)
  })

  it('tell of a feed whose files do not come, or come late', async () => {
    await using site = await openSite({ feed: { expectEveryMs: 60 * minute } })
    const { webhook, time } = site
    await site.looks(2)
    time.shiftMs = 61 * minute
    expect((await webhook.until('stale', 'firing')).message).toBe(
      'Feed products expects a file every 1 h; none came yet',
    )
    await site.accept('a.csv')
    await webhook.until('stale', 'resolved')
    await site.manifest.append([
      { kind: 'outcome', of: 1 as AcceptSequence, outcome: 'late', at: '2026-11-21T00:00:00Z' },
    ])
    await webhook.until('late', 'firing', 'products')
    // Waiting for its import, the next file says nothing of the one before.
    await site.accept('b.csv')
    await site.looks(3)
    expect(webhook.taken).toHaveLength(3)
    await site.manifest.append([
      { kind: 'outcome', of: 2 as AcceptSequence, outcome: 'imported', at: '2026-11-21T00:00:00Z' },
    ])
    await webhook.until('late', 'resolved')
  })

  it('tell of a Redis that is away, and end nothing that cannot be seen meanwhile', async () => {
    await using server = await startRedis()
    await using site = await openSite({ redis: server })
    await site.outbox.pause('credentials', 'Correct the token')
    await site.webhook.until('credentials', 'firing')
    await server.stop()
    await waitFor(() => site.connections.failure !== undefined, { what: 'the outage' })
    // A Redis that is back within 20 s is no alert.
    const isSeen = async () => (await readFile(site.stateFile, 'utf8').catch(() => '')).includes('"down"')
    await waitFor(isSeen, { what: 'a look' })
    expect(site.webhook.taken).toHaveLength(1)
    site.time.shiftMs = 21_000
    await site.webhook.until('redis', 'firing', 'down')
    await server.restart()
    await site.webhook.until('redis', 'resolved', 'down')
    // It came back empty: now the pause is gone, too.
    await site.webhook.until('credentials', 'resolved')
    expect(site.webhook.taken.map(({ kind, state }) => `${kind} ${state}`).slice(0, 2)).toEqual([
      'credentials firing',
      'redis firing',
    ])
  })

  it('tell of a Redis that lost what it held, until that is repaired', async () => {
    await using site = await openSite()
    await site.looks(2)
    site.mirror.store.remember({ repairing: 'all', lastLossMs: 1 })
    await site.webhook.until('redis', 'firing', 'rolled-back')
    await site.looks(3)
    expect(site.webhook.taken).toHaveLength(1)
    site.mirror.store.remember({ repairing: undefined })
    await site.webhook.until('redis', 'resolved', 'rolled-back')
  })

  it('tell of a loss that is repaired between two looks', async () => {
    await using site = await openSite()
    site.mirror.store.remember({ lastLossMs: 1 })
    await site.webhook.until('redis', 'firing', 'rolled-back')
    await site.webhook.until('redis', 'resolved', 'rolled-back')
  })

  it('are sent until they are taken, in order, over restarts too, and each once', async () => {
    await using site = await openSite()
    const { webhook } = site
    webhook.answers.push(500, 0, 302)
    await site.outbox.pause('credentials', 'Correct the token')
    await waitFor(() => webhook.requests.length >= 1, { what: 'the first attempt' })
    await site.restart()
    await site.restart()
    await webhook.until('credentials', 'firing')
    expect(webhook.requests.map(({ status }) => status)).toEqual([500, 0, 302, 204])
    await site.looks(2)
    await site.restart()
    await site.looks(2)
    expect(webhook.taken).toHaveLength(1)
    await site.outbox.resume('credentials', 'probed')
    await webhook.until('credentials', 'resolved')
    const text = JSON.stringify(site.lines)
    expect(text).toContain('an alert was not delivered')
    expect(text).not.toContain('s3cret')
  })
})
