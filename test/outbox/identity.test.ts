import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { CatalogName } from '../../src/lib/brand.ts'
import type { MirrorChunk } from '../../src/mirror/model.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { outboxVersion } from '../../src/outbox/keys.ts'
import type { OutboxLoop } from '../../src/outbox/loop.ts'
import { waitFor } from '../support/events.ts'
import { tempDir } from '../support/temp-dir.ts'
import { diesAt, endpoint, type Harness, idsOf, openHarness, write } from './harness.ts'

const bodyBytesMax = 2_000_000
const ask = (box: Harness) => box.outbox.claim({ mode: 'any', bodyBytesMax })

/** What keeps a loop from its work. */
async function refusalOf(loop: OutboxLoop): Promise<{ code?: string; message: string; hint?: string }> {
  return loop.turn().then(
    () => ({ message: 'it works' }),
    (error: unknown) => error as Error,
  )
}

/** The program with scripts of another version, loaded beside this one. */
async function openOtherVersion(version: number) {
  const dir = await tempDir('version')
  const root = new URL('../../', import.meta.url).pathname
  await cp(`${root}src`, dir.join('src'), { recursive: true })
  await symlink(`${root}node_modules`, dir.join('node_modules'))
  const text = await readFile(dir.join('src/outbox/keys.ts'), 'utf8')
  const changed = text.replace(/(outboxVersion = )\d+/, `$1${version}`)
  await writeFile(dir.join('src/outbox/keys.ts'), changed)
  const load = (name: string) => import(dir.join('src/outbox', name))
  const { catalogKeys } = (await load('keys.ts')) as typeof import('../../src/outbox/keys.ts')
  const loop = (await load('loop.ts')) as typeof import('../../src/outbox/loop.ts')
  const outbox = (await load('outbox.ts')) as typeof import('../../src/outbox/outbox.ts')
  const { OutboxScripts } = (await load(
    'scripts/scripts.ts',
  )) as typeof import('../../src/outbox/scripts/scripts.ts')
  const keys = catalogKeys('main' as CatalogName)
  const scripts = await OutboxScripts.read(keys)
  return {
    openLoop: (box: Harness) => box.openLoop({ keys, scripts }, loop.OutboxLoop),
    openOutbox: (box: Harness) => box.openOutbox({ keys, scripts }, outbox.RedisOutbox),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}

/** The mirror of another installation, with one product. */
async function openOther(stack: AsyncDisposableStack): Promise<MirrorStore> {
  const dir = stack.use(await tempDir('other'))
  const mirror = stack.use(MirrorStore.open({ file: dir.join('catalog.db'), isExpected: false }))
  let chunk: MirrorChunk | undefined = { writes: [write('other', '1', 'new')] }
  mirror.commit(() => {
    const next = chunk
    chunk = undefined
    return next
  }, Date.now())
  return mirror
}

test('two installations with one name on one Redis: the second is refused and names the first, which goes on', async () => {
  await using stack = new AsyncDisposableStack()
  await using box = await openHarness()
  await box.put('a', '1')
  const mirror = await openOther(stack)
  const second = box.openLoop({ mirror, place: { host: 'host-2', folder: '/other/main' } })
  const refusal = await refusalOf(second)
  expect(refusal).toMatchObject({ code: 'redis-other-mirror' })
  expect(refusal.message).toContain('/state/main on host-1')
  expect(refusal.hint).toContain('adopt')
  const theirs = box.openOutbox({ mirrorId: () => mirror.readIdentity().mirrorId })
  expect((await theirs.claim({ mode: 'any', bodyBytesMax })).kind).toBe('shut')
  await box.put('b', '1')
  expect(idsOf(await box.claim())).toEqual(['a', 'b'])
})

test('no call begins for another endpoint, and a changed one is refused until it is confirmed', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const other = box.openOutbox({ endpoint: () => 'https://sandbox.example' })
  expect((await other.claim({ mode: 'any', bodyBytesMax })).kind).toBe('shut')
  const refusal = await refusalOf(box.openLoop({ endpoint: 'https://sandbox.example' }))
  expect(refusal).toMatchObject({ code: 'other-endpoint' })
  expect(refusal.message).toContain(endpoint)
  expect(idsOf(await box.claim())).toEqual(['a'])
})

test('a mirror that began anew in the place of another sends to no other endpoint until it is confirmed', async () => {
  await using stack = new AsyncDisposableStack()
  await using box = await openHarness()
  await box.put('a', '1')
  const mirror = await openOther(stack)
  mirror.beginStartOver({})
  const changed = { mirror, endpoint: 'https://sandbox.example' }
  const refusal = await refusalOf(box.openLoop(changed))
  expect(refusal).toMatchObject({ code: 'other-endpoint' })
  expect(refusal.message).toContain(endpoint)
  mirror.beginStartOver({ endpoint: changed.endpoint })
  expect(await refusalOf(box.openLoop(changed))).toEqual({ message: 'it works' })
})

test('hosts that are updated one after the other: none delivers with other scripts than the one that imports', async () => {
  await using next = await openOtherVersion(outboxVersion + 1)
  await using box = await openHarness()
  await box.put('a', '1')
  // A delivering host is first: it waits for the one that imports.
  const updated = next.openOutbox(box)
  const any = { mode: 'any', bodyBytesMax } as const
  expect(await updated.claim(any)).toMatchObject({ kind: 'shut' })
  expect(await updated.lookDue()).toMatchObject({ anyDue: false })
  const open = await box.claim()
  expect(idsOf(open)).toEqual(['a'])
  await box.put('b', '1')
  // The one that imports is next, while a call is under way: those that are not updated are shut out.
  box.loop.forget()
  const loop = next.openLoop(box)
  await box.settle(loop)
  // Nothing was lost.
  expect(box.mirror.readIdentity().lastLossMs).toBeUndefined()
  expect(JSON.stringify(box.lines)).not.toContain('forgot')
  expect(await ask(box)).toMatchObject({ kind: 'shut' })
  expect(await box.outbox.admitCall()).toMatchObject({ kind: 'shut' })
  expect(await box.outbox.lookDue()).toMatchObject({ anyDue: false })
  expect(await box.outbox.renew(open.token)).toBe(false)
  const claimed = await updated.claim(any)
  expect(claimed).toMatchObject({ claim: { products: [{ productId: 'a' }, { productId: 'b' }] } })
  // The call of before ends; it may have replaced something newer, so that it is echoed.
  await box.outbox.acknowledge(open.token, open.products)
  expect(await box.lanesOf('a')).toContain('echoes')
  expect(await box.lanesOf('b')).toContain('echoes')
  // There is no way back: the older one is refused, and takes nothing from the one that goes on.
  const refusal = await refusalOf(box.openLoop())
  expect(refusal).toMatchObject({ code: 'redis-other-version', hint: 'Update this catalogd' })
  expect(await box.connection.keys('catalogd:{main}:3:*')).toEqual([])
  box.commit('c', '1')
  await box.settle(loop)
  expect(await updated.claim(any)).toMatchObject({ claim: { products: [{ productId: 'c' }] } })
})

test.each([
  ['a beat that it does not know', (box: Harness) => box.connection.incrby(box.keys.beat, 2)],
  ['places that it never gave', (box: Harness) => box.connection.hset(box.keys.positions, 'new', 1_000)],
  [
    'a generation that it does not know',
    (box: Harness) => box.connection.hset(box.keys.guard, 'generation', 'later'),
  ],
])('a mirror that is older than Redis is refused: %s', async (_, change) => {
  await using box = await openHarness()
  await box.put('a', '1')
  box.loop.forget()
  await change(box)
  const refusal = await refusalOf(box.openLoop())
  expect(refusal).toMatchObject({ code: 'mirror-old' })
  expect(refusal.hint).toContain('restore')
})

test('a second process with the same mirror waits while the lease of the first lives', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const second = box.openLoop({ place: { host: 'host-2', folder: '/state/main' } })
  expect((await refusalOf(second)).message).toContain('another process')
  await box.put('b', '1')
  await box.connection.hset(box.keys.guard, 'leaseEnds', 0)
  await second.turn()
  // The first notices before it offers anything more.
  box.commit('c', '1')
  expect((await refusalOf(box.loop)).message).toContain('not as it was')
})

test('starting over for the same endpoint: calls wait until none of before can take effect, then each product goes once', async () => {
  await using box = await openHarness()
  for (const id of ['a', 'b']) await box.put(id, '1')
  await box.deliver()
  await box.put('a', '2', 'urgent')
  const open = await box.claim()
  box.mirror.beginStartOver({})
  box.loop.forget()
  await box.settle()
  expect(await ask(box)).toMatchObject({ kind: 'wait' })
  // A lease, a time-out and the horizon.
  expect(await box.connection.hget(box.keys.pace, 'untilFor')).toBe('165000')
  expect(await box.outbox.renew(open.token)).toBe(false)
  await box.connection.hset(box.keys.pace, 'until', 0)
  const claim = await box.deliver()
  expect(claim.products.map(({ productId, document }) => [productId, String(document)])).toEqual([
    ['a', '2'],
    ['b', '1'],
  ])
  expect(await box.remains()).toEqual([])
  expect(box.places()).toEqual([])
})

test('starting over on an emptied Redis waits as long: it does not tell where the last calls went', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  await box.deliver()
  box.mirror.beginStartOver({})
  await box.connection.flushdb()
  box.loop.forget()
  await box.settle()
  expect(await ask(box)).toMatchObject({ kind: 'wait' })
  expect(await box.connection.hget(box.keys.pace, 'untilFor')).toBe('165000')
})

test('starting over takes the keys of another mirror, and sends to another endpoint at once', async () => {
  await using stack = new AsyncDisposableStack()
  await using box = await openHarness()
  await box.put('a', '1')
  box.loop.forget()
  const mirror = await openOther(stack)
  const next = 'https://other.example'
  mirror.remember({ endpoint })
  const theirs = (await box.connection.hget(box.keys.guard, 'generation')) ?? ''
  mirror.beginStartOver({ endpoint: next, former: [theirs] })
  await box.connection.hset(box.keys.guard, 'leaseEnds', 0)
  const loop = box.openLoop({ mirror, endpoint: next, place: { host: 'host-2', folder: '/other/main' } })
  await box.settle(loop)
  const outbox = box.openOutbox({ endpoint: () => next })
  expect(await outbox.claim({ mode: 'any', bodyBytesMax })).toMatchObject({
    claim: { products: [{ productId: 'other' }] },
  })
  // The one that it was taken from notices, and is refused.
  box.loop.forget()
  expect(await refusalOf(box.loop)).toMatchObject({ code: 'redis-other-mirror' })
})

test('starting over waits where the guard shows another endpoint, but calls of before may have gone to this one', async () => {
  await using stack = new AsyncDisposableStack()
  await using box = await openHarness()
  await box.put('a', '1')
  const any = { mode: 'any', bodyBytesMax } as const
  // The keys were emptied, and somebody else used them meanwhile, for an endpoint of its own.
  const own = box.mirror.readIdentity().generation
  const generationOf = async () => (await box.connection.hget(box.keys.guard, 'generation')) ?? ''
  const other = await openOther(stack)
  other.beginStartOver({ endpoint: 'https://other.example', former: [own] })
  await box.connection.hset(box.keys.guard, 'leaseEnds', 0)
  const place = { host: 'host-2', folder: '/other/main' }
  await box.settle(box.openLoop({ mirror: other, endpoint: 'https://other.example', place }))
  box.mirror.beginStartOver({ former: [await generationOf()] })
  await box.connection.hset(box.keys.guard, 'leaseEnds', 0)
  box.loop.forget()
  await box.settle()
  expect(await box.outbox.claim(any)).toMatchObject({ kind: 'wait' })
  // To another one the operator moves at once, and back not before calls of before have ended.
  const moveTo = async (next: string) => {
    box.mirror.beginStartOver({ endpoint: next })
    await box.connection.hset(box.keys.guard, 'leaseEnds', 0)
    await box.connection.hdel(box.keys.pace, 'until', 'untilFor')
    await box.settle(box.openLoop({ endpoint: next }))
    return await box.openOutbox({ endpoint: () => next }).claim(any)
  }
  box.mirror.remember({ callsFromMs: undefined })
  expect(await moveTo('https://next.example')).toMatchObject({ kind: 'claimed' })
  expect(await moveTo(endpoint)).toMatchObject({ kind: 'wait' })
})

test('starting over takes no keys of another mirror that nobody has named, but those left in its own place', async () => {
  await using stack = new AsyncDisposableStack()
  await using box = await openHarness()
  await box.put('a', '1')
  box.loop.forget()
  const mirror = await openOther(stack)
  mirror.beginStartOver({})
  await box.connection.hset(box.keys.guard, 'leaseEnds', 0)
  const elsewhere = box.openLoop({ mirror, place: { host: 'host-2', folder: '/state/main' } })
  expect(await refusalOf(elsewhere)).toMatchObject({ code: 'redis-other-mirror' })
  // A mirror that was made anew, where the one that was lost has been.
  const replaced = (await box.connection.hget(box.keys.guard, 'generation')) ?? ''
  await box.settle(box.openLoop({ mirror }))
  expect(await box.connection.hget(box.keys.guard, 'mirror')).toBe(mirror.readIdentity().mirrorId)
  // A Redis that falls back to before is a loss then.
  expect(mirror.readIdentity().former).toContain(replaced)
})

test('a delivering process that has looked before everything was started over sees what is due afterwards', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  expect(await box.outbox.lookDue()).toMatchObject({ anyDue: true })
  await box.deliver()
  box.mirror.beginStartOver({})
  box.loop.forget()
  await box.settle()
  await box.connection.hset(box.keys.pace, 'until', 0)
  await waitFor(async () => (await box.outbox.lookDue()).anyDue, { what: 'something to be due' })
})

test.each(['remember', 'startOver'] as const)(
  'starting over that dies at any %s goes on, and each product goes at least once',
  async (method) => {
    for (let at = 1; ; at += 1) {
      await using box = await openHarness()
      for (const id of ['a', 'b', 'c']) await box.put(id, '1')
      await box.deliver()
      box.mirror.beginStartOver({})
      box.loop.forget()
      const died = await box
        .settle(box.openLoop({ mirror: diesAt(box.mirror, method, at) }))
        .then(() => false)
        .catch(() => true)
      box.reopenMirror()
      const loop = box.openLoop()
      await box.settle(loop)
      await box.connection.hset(box.keys.pace, 'until', 0)
      expect(idsOf(await box.claim())).toEqual(['a', 'b', 'c'])
      if (!died) return
    }
  },
)

test('a mirror that was found to be old stays refused when Redis is emptied, until it is started over', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  box.loop.forget()
  await box.connection.incrby(box.keys.beat, 2)
  expect(await refusalOf(box.openLoop())).toMatchObject({ code: 'mirror-old' })
  await box.connection.flushall()
  box.reopenMirror()
  expect(await refusalOf(box.openLoop())).toMatchObject({ code: 'mirror-old' })
  box.mirror.beginStartOver({})
  const loop = box.openLoop()
  await box.settle(loop)
  // Nobody knows any more to which endpoint the last calls went: they may still take effect.
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax: 2_000_000 })).toMatchObject({ kind: 'wait' })
  await box.connection.hset(box.keys.pace, 'until', 0)
  expect(idsOf(await box.claim())).toEqual(['a'])
})
