import { expect, test } from 'vitest'
import { StorageError } from '../../src/lib/errors.ts'
import type { MirrorStore } from '../../src/mirror/store.ts'
import { waitFor } from '../support/events.ts'
import { openHarness } from './harness.ts'

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
