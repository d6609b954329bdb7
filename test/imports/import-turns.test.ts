import { expect, test } from 'vitest'
import { ImportTurns, smallBytesMax } from '../../src/imports/import-turns.ts'
import type { Clock } from '../../src/lib/clock.ts'

const largeBytes = smallBytesMax + 1

/** Time goes on only when told; sleepers wake in order. */
function handClock() {
  let now = 0
  let sleepers: { at: number; wake: () => void }[] = []
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (delayMs) => new Promise((wake) => sleepers.push({ at: now + delayMs, wake })),
  }
  const advance = async (ms: number) => {
    now += ms
    for (const { wake } of sleepers.filter(({ at }) => at <= now)) wake()
    sleepers = sleepers.filter(({ at }) => at > now)
    await new Promise(setImmediate)
  }
  return { clock, advance }
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  const pending = Symbol('pending')
  await new Promise(setImmediate)
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending
}

test('a larger file waits while a smaller one is imported, and a moment longer', async () => {
  const { clock, advance } = handClock()
  const turns = new ImportTurns(clock)
  const large = turns.begin(largeBytes)
  const small = turns.begin(100)
  const waiting = large.take()
  expect(await isSettled(small.take())).toBe(true)
  expect(await isSettled(waiting)).toBe(false)
  small[Symbol.dispose]()
  expect(await isSettled(waiting)).toBe(false)
  await advance(80)
  expect(await isSettled(waiting)).toBe(true)
})

test('a larger file waits a moment while files are accepted', async () => {
  const { clock, advance } = handClock()
  const turns = new ImportTurns(clock)
  const large = turns.begin(largeBytes)
  turns.makeWay()
  const waiting = large.take()
  expect(await isSettled(waiting)).toBe(false)
  await advance(80)
  expect(await isSettled(waiting)).toBe(true)
})

test('a larger file goes on after a while, however long the smaller one takes', async () => {
  const { clock, advance } = handClock()
  const turns = new ImportTurns(clock)
  const large = turns.begin(largeBytes)
  turns.begin(100)
  const waiting = large.take()
  await advance(99)
  expect(await isSettled(waiting)).toBe(false)
  await advance(1)
  expect(await isSettled(waiting)).toBe(true)
})

test('a small file waits for none that is smaller', async () => {
  const { clock } = handClock()
  const turns = new ImportTurns(clock)
  turns.begin(100)
  turns.makeWay()
  expect(await isSettled(turns.begin(smallBytesMax).take())).toBe(true)
})

test('a larger file that has waited works for a while, however many smaller ones come', async () => {
  const { clock, advance } = handClock()
  const turns = new ImportTurns(clock)
  const large = turns.begin(largeBytes)
  turns.begin(100)
  const waiting = large.take()
  await advance(100)
  await waiting
  await advance(19)
  expect(await isSettled(large.take())).toBe(true)
  await advance(1)
  expect(await isSettled(large.take())).toBe(false)
})

test('nobody makes way for a file that waits for others', async () => {
  const { clock } = handClock()
  const turns = new ImportTurns(clock)
  const large = turns.begin(largeBytes)
  const small = turns.begin(100)
  const rest = small.rest()
  expect(await isSettled(large.take())).toBe(true)
  rest[Symbol.dispose]()
  expect(await isSettled(large.take())).toBe(false)
})
