import { copyFile, rename } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openLog } from '../../src/lib/log.ts'
import { LiveMirror } from '../../src/mirror/live-mirror.ts'
import { leakCheck } from '../support/leak-check.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { idOf, writeOf } from './writes.ts'

const leaks = leakCheck()
let dir: TempDir

beforeEach(async () => {
  await leaks.remember()
  dir = await tempDir('mirror')
})
afterEach(async () => {
  await dir[Symbol.asyncDispose]()
  await leaks.check()
})

const feed = 'products' as FeedName

async function open(options: { isExpected?: boolean; onFatal?: (error: unknown) => void } = {}) {
  const { isExpected = false, onFatal = (error) => Promise.reject(error) } = options
  return LiveMirror.open({
    entry: new URL('./plain-thread.ts', import.meta.url),
    workerData: {
      file: dir.join('catalog.db'),
      isExpected,
      logLevel: 'silent',
      checkpoints: new MessageChannel().port1,
    },
    clock: systemClock,
    log: openLog({ level: 'silent' }),
    onOffered: () => undefined,
    onFatal,
  })
}

it('an update sees what the one before it has committed', async () => {
  await using mirror = await open()
  const seen: (string | undefined)[] = []
  const updates = Array.from({ length: 20 }, (_, n) =>
    mirror.update([idOf(1)], (stored) => {
      seen.push(stored.get(idOf(1))?.document?.toString())
      return { writes: [writeOf(1, `${n}`)] }
    }),
  )
  await Promise.all(updates)
  expect(seen.map((text) => text && JSON.parse(text).price)).toEqual([undefined, ...numbersBelow(19)])
  expect(mirror.count()).toMatchObject({ products: 1, places: { new: { waiting: 1 } } })
})

it('a flush is also of what waits for a change under way', async () => {
  await using mirror = await open()
  const price = (text: string) => () => ({ writes: [writeOf(1, text)] })
  const first = mirror.update([idOf(1)], price('1'))
  const second = mirror.update([idOf(1)], price('2'), { gather: true })
  mirror.flush()
  await Promise.all([first, second])
  expect(
    JSON.parse(
      mirror
        .read([idOf(1)])
        .get(idOf(1))
        ?.document?.toString() ?? '',
    ).price,
  ).toBe('2')
})

it('what was gathered is overtaken by a change that was not', async () => {
  await using mirror = await open()
  let gathered = 0
  const chunks = Array.from({ length: 300 }, (_, chunk) => {
    const numbers = Array.from({ length: 50 }, (_, n) => 1 + chunk * 50 + n)
    const writes = numbers.map((n) => writeOf(n, '1'))
    const update = mirror.update(numbers.map(idOf), () => ({ writes }), { gather: true })
    return update.then(() => (gathered += 1))
  })
  await new Promise((resolve) => setImmediate(resolve))
  mirror.flush()
  await mirror.update([idOf(0)], () => ({ writes: [writeOf(0, '1')] }))
  expect(gathered).toBeLessThan(300)
  await Promise.all(chunks)
  expect(mirror.count().products).toBe(15_001)
})

it('finds products by key, and reads those that one product has', async () => {
  await using mirror = await open()
  const add = [1, 2, 3].map((n) => ({ field: 'ean', value: n === 3 ? 'b' : 'a', productId: idOf(n) }))
  await mirror.update([], () => ({ writes: [1, 2, 3].map((n) => writeOf(n, '1')), addKeys: add }))
  await mirror.updateByKey({ field: 'ean', values: ['a', 'b', 'c'] }, (stored, found) => {
    expect([...stored.keys()]).toEqual([idOf(3)])
    expect([...found.values()]).toEqual([[idOf(1), idOf(2)], [idOf(3)], []])
    return undefined
  })
})

it('a plan that throws changes nothing, and the next update runs', async () => {
  await using mirror = await open()
  const plan = () => {
    throw new Error('a bad plan')
  }
  await expect(mirror.update([], plan)).rejects.toThrow('a bad plan')
  await mirror.update([], () => ({ writes: [writeOf(1, '1')] }))
  expect(mirror.count().products).toBe(1)
})

it('is refused with the words of the thread where the file is gone', async () => {
  await expect(open({ isExpected: true })).rejects.toMatchObject({
    ...{ name: 'StorageError', code: 'mirror-missing', hint: expect.stringContaining('catalogd restore') },
  })
})

it('ends when another file is put in its place, and changes nothing more', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  await using mirror = await open({ onFatal: resolve })
  const file = dir.join('catalog.db')
  await mirror.update([], () => ({ writes: [writeOf(1, '1')] }))
  await copyFile(file, `${file}.copy`)
  await rename(`${file}.copy`, file)
  expect(await promise).toMatchObject({ code: 'database-replaced' })
  await expect(mirror.update([], () => ({ writes: [] }))).rejects.toMatchObject({ code: 'database-replaced' })
})

it('a bug in the thread ends it, and is told to those who wait', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  await using mirror = await open({ onFatal: resolve })
  await mirror.update([], () => ({ writes: [writeOf(1, '1')] }))
  using other = new DatabaseSync(dir.join('catalog.db'))
  other.exec("CREATE TRIGGER refuse BEFORE INSERT ON held_ids BEGIN SELECT RAISE(ROLLBACK, 'refused'); END")
  const add: ProductId[] = [idOf(1)]
  const change = { writes: [writeOf(2, '1')], heldIds: { feed, add } }
  await expect(mirror.update([], () => change)).rejects.toThrow('refused')
  expect(await promise).toMatchObject({ message: 'refused' })
  await expect(mirror.update([], () => change)).rejects.toThrow('refused')
  expect(mirror.count().products).toBe(1)
})

function numbersBelow(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${n}`)
}
