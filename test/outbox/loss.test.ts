import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { CatalogName, ProductId } from '../../src/lib/brand.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { stateOf } from '../../src/operations/story-state.ts'
import { readOverview } from '../../src/outbox/overview.ts'
import { readUnderWay } from '../../src/outbox/under-way.ts'
import { RedisConnections } from '../../src/redis/connections.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { diesAt, type Harness, openHarness } from './harness.ts'

const bodyBytesMax = 2_000_000

/** Redis is killed and starts again with the files of an earlier moment. */
async function rollBack(box: Harness, saved: string): Promise<void> {
  await box.server.kill()
  await rm(join(box.server.dir, 'appendonlydir'), { recursive: true, force: true })
  await cp(saved, join(box.server.dir, 'appendonlydir'), { recursive: true })
  await box.server.restart()
  await waitFor(() => box.connection.status === 'ready')
}

async function saveRedis(box: Harness): Promise<string> {
  // Whatever was written before is in the file now.
  await waitFor(async () => /aof_pending_bio_fsync:0/.test(await box.connection.info('persistence')))
  const saved = join(box.server.dir, `saved-${Math.random()}`)
  await cp(join(box.server.dir, 'appendonlydir'), saved, { recursive: true })
  return saved
}

/** Turns until Redis is compared, repaired and filled. */
async function heal(box: Harness): Promise<void> {
  for (let failures = 0; failures < 20; failures += 1) {
    try {
      await box.settle()
      return
    } catch {
      box.loop.forget()
    }
  }
  throw new Error('Redis was not repaired')
}

/** Sends what is due until nothing is, and tells which document of each product was sent last. */
async function sendAll(box: Harness, loop = box.loop): Promise<Map<string, string>> {
  const sent = new Map<string, string>()
  for (;;) {
    await box.settle(loop)
    const answer = await box.outbox.claim({ mode: 'any', bodyBytesMax })
    if (answer.kind === 'claimed') {
      for (const { productId, document } of answer.claim.products) sent.set(productId, document.toString())
      await box.outbox.acknowledge(answer.claim.token, answer.claim.products)
    } else if (!(await loop.turn()).done) {
      return sent
    }
  }
}

/** Time passes until every echo is due. */
async function untilEchoesAreDue(box: Harness): Promise<void> {
  await box.connection.hset(box.keys.guard, 'echoUntil', 1)
  for (const id of await box.connection.zrange(box.keys.echoes, '0', '-1')) {
    await box.connection.zadd(box.keys.echoes, 1, id)
  }
}

async function isAtRest(box: Harness, loop = box.loop): Promise<void> {
  await box.settle(loop)
  expect(await box.remains()).toEqual([])
  expect(box.places()).toEqual([])
  expect(await box.connection.hvals(box.keys.bytes)).toSatisfy((counts: string[]) =>
    counts.every((count) => count === '0'),
  )
}

test('an acknowledgement that Redis forgot: the edit that is undone afterwards is sent', async () => {
  await using box = await openHarness({ redis: { aof: true } })
  await box.put('a', '1')
  await box.deliver()
  await box.put('a', '2', 'urgent')
  const saved = await saveRedis(box)
  // Taken, and forgotten before the mirror learns it.
  const claim = await box.claim()
  await box.outbox.acknowledge(claim.token, claim.products)
  await rollBack(box, saved)
  box.commit('a', '1', 'urgent')
  expect((await box.outbox.claim({ mode: 'any', bodyBytesMax })).kind).toBe('shut')
  await heal(box)
  expect(await sendAll(box)).toEqual(new Map([['a', '1']]))
  expect(await box.lanesOf('a')).toEqual(['echoes'])
  await untilEchoesAreDue(box)
  expect(await sendAll(box)).toEqual(new Map([['a', '1']]))
  await isAtRest(box)
})

test('a claim that Redis forgot: its call may take effect late, so the newest document is sent after it', async () => {
  await using box = await openHarness({ redis: { aof: true } })
  await box.put('a', '1')
  const saved = await saveRedis(box)
  const lost = await box.claim()
  await rollBack(box, saved)
  await heal(box)
  await box.put('a', '2', 'urgent')
  expect(await sendAll(box)).toEqual(new Map([['a', '2']]))
  // The call of before ends now; its process does not know that its claim is gone.
  await box.outbox.acknowledge(lost.token, lost.products)
  await box.settle()
  await untilEchoesAreDue(box)
  expect((await sendAll(box)).get('a')).toBe('2')
  await isAtRest(box)
})

test('a claim that waits when Redis is killed does not reach the next run, whose guard names the run before', async () => {
  await using box = await openHarness({ redis: { aof: true } })
  await box.put('a', '1')
  const saved = await saveRedis(box)
  const { log } = collectLog()
  await using connections = new RedisConnections({
    address: { kind: 'url', url: box.server.url },
    ...{ clock, log },
  })
  await connections.commands.connect()
  const outbox = box.openOutbox({ connection: connections.commands })
  expect(await outbox.lookDue()).toMatchObject({ anyDue: true })
  box.server.pause()
  const claim = outbox.claim({ mode: 'any', bodyBytesMax }).then(
    ({ kind }) => kind,
    () => 'failed',
  )
  // It is on its way.
  await setImmediate()
  await rollBack(box, saved)
  expect(await claim).toBe('failed')
  await waitFor(() => connections.commands.status === 'ready')
  expect(await outbox.claim({ mode: 'any', bodyBytesMax })).toMatchObject({ kind: 'shut' })
  expect(await box.connection.hlen(box.keys.claimed)).toBe(0)
  await heal(box)
  expect(await sendAll(box)).toEqual(new Map([['a', '1']]))
})

test('an old acknowledgement that is there again is not believed', async () => {
  await using box = await openHarness({ redis: { aof: true } })
  await box.put('a', '1')
  const first = await box.claim()
  await box.outbox.acknowledge(first.token, first.products)
  const saved = await saveRedis(box)
  await box.settle()
  await box.put('a', '2', 'urgent')
  await box.deliver()
  await rollBack(box, saved)
  box.commit('a', '1', 'urgent')
  await heal(box)
  expect((await sendAll(box)).get('a')).toBe('1')
  await untilEchoesAreDue(box)
  expect((await sendAll(box)).get('a')).toBe('1')
  await isAtRest(box)
})

test('a Redis that was emptied is filled from the mirror; an overdue echo is not forgotten', async () => {
  await using box = await openHarness()
  for (const id of ['a', 'b', 'c']) await box.put(id, '1')
  await box.outbox.release((await box.claim('any', 3)).token, ['a' as ProductId], 'unknown')
  await box.deliver()
  await box.connection.zadd(box.keys.echoes, 1, 'a')
  expect(box.places().map(({ id }) => id)).toEqual(['a'])
  await box.connection.flushall()
  expect((await box.outbox.claim({ mode: 'any', bodyBytesMax })).kind).toBe('shut')
  await heal(box)
  expect(await sendAll(box)).toEqual(new Map([['a', '1']]))
  expect(box.mirror.readIdentity().lastLossMs).toBeGreaterThan(0)
  await untilEchoesAreDue(box)
  expect(await sendAll(box)).toEqual(new Map([['a', '1']]))
  await isAtRest(box)
})

test('a fallback without a restart shows by the beat', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const beat = await box.connection.get(box.keys.beat)
  await box.deliver()
  await box.connection.set(box.keys.beat, beat ?? '')
  await expect(box.loop.turn()).rejects.toThrow('not as it was')
  box.loop.forget()
  await heal(box)
  expect(box.mirror.readIdentity().lastLossMs).toBeGreaterThan(0)
})

test('a call that ends well while a loss is repaired is not believed: its product is sent again, and echoed', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const open = await box.claim()
  await box.connection.set(box.keys.beat, 0)
  box.loop.forget()
  const scripts = new Proxy(box.scripts, {
    get: (target, name) => {
      if (name !== 'run') return target[name as 'append'].bind(target)
      return async (...[connection, script, args]: Parameters<typeof target.run>) => {
        if (script === 'open') await box.outbox.acknowledge(open.token, open.products)
        return target.run(connection, script, args)
      }
    },
  })
  const loop = box.openLoop({ scripts })
  await box.settle(loop)
  expect(await sendAll(box, loop)).toEqual(new Map([['a', '1']]))
  expect(await box.lanesOf('a')).toEqual(['echoes'])
  await untilEchoesAreDue(box)
  expect(await sendAll(box, loop)).toEqual(new Map([['a', '1']]))
  await isAtRest(box, loop)
})

test.each([
  ['before the mirror knows of them', false, false],
  ['when the mirror knows of them', true, false],
  ['after the operator gave one of them up', true, true],
])(
  'refusals that are not decided, of a Redis that is emptied %s: all are sent again',
  async (_, isDrained, isDropped) => {
    await using box = await openHarness()
    for (const id of ['a', 'b']) await box.put(id, '1')
    const claim = await box.claim()
    const refusals = claim.products.map((product) => {
      return { ...product, reason: 'no', status: 400, requestId: undefined }
    })
    await box.outbox.rejectUnnamed(claim.token, refusals)
    if (isDrained) await box.settle()
    expect(box.deadIds()).toEqual(isDrained ? ['a', 'b'] : [])
    const dropped = { productId: 'a' as ProductId, digest: box.digestOf('1') }
    if (isDropped) box.commitChunk({ writes: [], dropDead: [dropped] })
    await box.connection.flushall()
    await heal(box)
    expect(box.deadIds()).toEqual([])
    expect(box.places().map(({ id }) => id)).toEqual(['a', 'b'])
    expect(await sendAll(box)).toEqual(
      new Map([
        ['a', '1'],
        ['b', '1'],
      ]),
    )
    await untilEchoesAreDue(box)
    await sendAll(box)
    await isAtRest(box)
    expect(box.deadIds()).toEqual([])
  },
)

test('a daemon that is killed while Redis lives is no loss', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const claim = await box.claim()
  box.loop.forget()
  box.reopenMirror()
  await using next = box.openLoop()
  await box.settle(next)
  expect(box.mirror.readIdentity().lastLossMs).toBeUndefined()
  await box.outbox.acknowledge(claim.token, claim.products)
  await isAtRest(box, next)
})

test.each(['remember', 'doubt'] as const)(
  'a repair that dies at any %s begins again, and its outcome is the same',
  async (method) => {
    for (let at = 1; ; at += 1) {
      await using box = await openHarness()
      for (const id of ['a', 'b']) await box.put(id, '1')
      await box.deliver('any', 3)
      await box.put('c', '1', 'urgent')
      await box.connection.flushall()
      box.loop.forget()
      const died = await box
        .settle(box.openLoop({ mirror: diesAt(box.mirror, method, at) }))
        .then(() => false)
        .catch(() => true)
      if (!died) return
      box.reopenMirror()
      const loop = box.openLoop()
      await box.settle(loop)
      const sent = await sendAll(box, loop)
      expect(sent.get('b')).toBe('1')
      expect(sent.get('c')).toBe('1')
    }
  },
)

test('what is sent once more after a loss is not told as undelivered', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.deliver()
  await box.put('a', '2', 'urgent')
  await box.connection.flushall()
  await heal(box)
  await sendAll(box)
  const keys = box.keys
  using mirror = new MirrorReader(box.file)
  const catalog = { name: 'main' as CatalogName, deferred: { afterMs: 0, atMostMs: 0 } }
  const nowMs = Date.now() + 60_000
  expect(await readOverview({ catalog, connection: box.connection, mirror, nowMs })).toMatchObject({
    ...{ pending: 1, repeats: 1, echoes: { waiting: 1 } },
    lanes: { urgent: { waiting: 0, oldestMs: 0 }, new: { waiting: 0 } },
  })
  const id = 'a' as ProductId
  const underWay = await readUnderWay(box.connection, keys, id)
  const stored = mirror.story(id)
  if (!stored) throw new Error('it is not known')
  expect(stateOf({ mirror, stored, underWay, nowMs } as Parameters<typeof stateOf>[0], [])).toEqual({
    state: 'repeated',
    at: new Date(Number(await box.connection.zscore(keys.echoes, id))).toISOString(),
  })
})
