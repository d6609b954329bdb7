import { expect, test } from 'vitest'
import { packIds, type SettledCall, unpackIds } from '../../src/mirror/calls.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { tellCall } from '../../src/outbox/told-calls.ts'
import { openHarness } from './harness.ts'

const callOf = (n: number): SettledCall => ({
  ...{ beganMs: n, endedMs: n + 1, products: 1, lanes: null, bytes: 10, status: 200, requestId: `r${n}` },
  ...{ outcome: 'acknowledge', description: null, refused: 0, host: 'deliverer', ids: packIds([`p${n}`]) },
})

test('calls of a process without the mirror stand in the mirror, the newest ones after a long time', async () => {
  await using box = await openHarness()
  await box.settle()
  for (let n = 1; n <= 250; n += 1) await tellCall(box.connection, box.keys, callOf(n))
  await box.settle()
  box.mirror.rest()
  using reader = new MirrorReader(box.file)
  const calls = [...reader.settledCalls()]
  expect(calls.map(({ requestId }) => requestId)).toEqual(
    Array.from({ length: 200 }, (_, n) => `r${250 - n}`),
  )
  expect(calls[0]).toMatchObject({ host: 'deliverer', beganMs: 250, status: 200 })
  expect(calls.map(({ ids }) => unpackIds(ids)).slice(0, 2)).toEqual([['p250'], ['p249']])
  expect(await box.remains()).toEqual([])
})
