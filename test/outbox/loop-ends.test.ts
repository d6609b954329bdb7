import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { StorageError } from '../../src/lib/errors.ts'
import type { MirrorStore } from '../../src/mirror/store.ts'
import { waitFor } from '../support/events.ts'
import { type Harness, openHarness, write } from './harness.ts'

test('what the last calls achieved is durable in the mirror when the loop has ended', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  const { token, products } = await box.claim()
  await box.outbox.acknowledge(token, products)
  expect(box.places()).toHaveLength(1)
  await box.loop[Symbol.asyncDispose]()
  expect(box.places()).toEqual([])
})

test('a full disk of the mirror is waited out', async () => {
  await using box = await openHarness()
  box.commit('a', '1')
  let refused = 0
  const mirror: MirrorStore = new Proxy(box.mirror, {
    get(target, name) {
      if (name === 'remember' && refused < 4) {
        refused += 1
        throw new StorageError('disk-full', 'the disk is full')
      }
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await using loop = box.openLoop({ mirror })
  await loop.start()
  await waitFor(async () => (await box.lanesOf('a')).length > 0, { withinMs: 120_000 })
  expect(refused).toBe(4)
  expect(box.fatal).toEqual([])
})

/** As a small file is imported: the loop reads it at once. */
function commitPrompt(box: Harness, id: string, text: string): void {
  box.commitChunk({ writes: [write(id, text, 'urgent')] }, 0, { isReadNext: true })
}

function urgentNumbers({ mirror }: Harness) {
  const { last, offered } = mirror.readIdentity()
  return { last: last.urgent, offered: offered.urgent }
}

/** Tells whether the file was changed since. */
function openWatch(file: string) {
  const database = new DatabaseSync(file, { readOnly: true })
  const version = () => JSON.stringify(database.prepare('PRAGMA data_version').get())
  const before = version()
  return {
    isChanged: () => version() !== before,
    [Symbol.dispose]: () => database.close(),
  }
}

test('an urgent change is noted as offered by its own commit, and reading it writes nothing', async () => {
  await using box = await openHarness()
  await box.put('b', '1', 'urgent')
  commitPrompt(box, 'a', '1')
  expect(urgentNumbers(box)).toEqual({ last: 2, offered: 2 })
  // As in a turn.
  box.mirror.noteBeat(box.mirror.readIdentity().beat + 1)
  using watch = openWatch(box.file)
  const places = box.mirror.readPlaces({
    lane: 'urgent',
    after: 1,
    bytesMax: 1e6,
    rowsMax: 9,
    documents: true,
  })
  expect(places.map(({ productId }) => productId)).toEqual(['a'])
  expect(watch.isChanged()).toBe(false)
})

test('behind urgent changes that nobody has read none is noted before it is read', async () => {
  await using box = await openHarness()
  box.commit('a', '1', 'urgent')
  commitPrompt(box, 'b', '1')
  expect(urgentNumbers(box)).toEqual({ last: 2, offered: 0 })
})

test('what was noted, and offered to nobody when the process ended, is offered by the next, in its newest form', async () => {
  await using box = await openHarness()
  await box.put('a', '1', 'urgent')
  commitPrompt(box, 'a', '2')
  commitPrompt(box, 'b', '1')
  commitPrompt(box, 'a', '3')
  box.loop.forget()
  box.reopenMirror()
  await using next = box.openLoop()
  await box.settle(next)
  const { products } = await box.claim()
  expect(products.map(({ document }) => String(document)).sort()).toEqual(['1', '3'])
})

test('the beat of a turn that offers an urgent change is durable when the turn is over', async () => {
  await using box = await openHarness()
  await box.put('b', '1', 'urgent')
  commitPrompt(box, 'a', '1')
  await box.loop.turn()
  const raised = Number(await box.connection.get(box.keys.beat))
  box.reopenMirror()
  expect(box.mirror.readIdentity().beat).toBe(raised)
})
