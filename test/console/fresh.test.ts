import { expect, it } from 'vitest'
import { Fresh } from '../../src/console/fresh.ts'
import { systemClock } from '../../src/lib/clock.ts'

function openFresh() {
  const now = { ms: 0, version: 1 }
  const reads: PromiseWithResolvers<number>[] = []
  const read = () => {
    reads.push(Promise.withResolvers())
    return (reads.at(-1) as PromiseWithResolvers<number>).promise
  }
  const clock = { ...systemClock, monotonic: () => now.ms }
  const fresh = new Fresh(read, { clock, version: () => now.version })
  const answer = (value: number) => reads.at(-1)?.resolve(value)
  return { now, reads, fresh, answer }
}

it('asks once for all within a second, and lets nobody wait while the last answer is not old', async () => {
  const { now, reads, fresh, answer } = openFresh()
  const both = [fresh.read(), fresh.read()]
  answer(1)
  expect(await Promise.all(both)).toEqual([1, 1])
  now.ms = 900
  expect(await fresh.read()).toBe(1)
  expect(reads).toHaveLength(1)
  now.ms = 1_100
  expect(await fresh.read()).toBe(1)
  expect(await fresh.read()).toBe(1)
  expect(reads).toHaveLength(2)
  answer(2)
  await reads.at(-1)?.promise
  expect(await fresh.read()).toBe(2)
  now.ms = 7_000
  const late = fresh.read()
  answer(3)
  expect(await late).toBe(3)
})

it('waits for what was done, and for another configuration, and tells a failure once', async () => {
  const { now, reads, fresh, answer } = openFresh()
  const first = fresh.read()
  fresh.forget()
  const second = fresh.read()
  answer(2)
  expect(await second).toBe(2)
  reads[0]?.resolve(1)
  expect([await first, await fresh.read()]).toEqual([1, 2])
  now.version = 2
  const third = fresh.read()
  reads.at(-1)?.reject(new Error('away'))
  await expect(third).rejects.toThrow('away')
  const fourth = fresh.read()
  answer(4)
  expect(await fourth).toBe(4)
})
