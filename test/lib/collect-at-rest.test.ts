import { afterEach, expect, it, vi } from 'vitest'
import { collectAtRest } from '../../src/lib/collect-at-rest.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

it('collects when a thread comes to rest, gives back what that freed, and not again before it was busy', () => {
  vi.useFakeTimers()
  const collected = vi.fn()
  let user = 0
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user, system: 0 }))
  let heap = 0
  const gc = collected as unknown as NodeJS.GCFunction
  const givenBack = vi.fn()
  using _ = collectAtRest({ gc, giveBack: givenBack, everyMs: 10, heapBytes: () => heap })
  const times = [0, 9_000, 2_000, 100, 0, 0, 10_000, 0].map((micros) => {
    user = micros
    heap += 6e6
    vi.advanceTimersByTime(10)
    return collected.mock.calls.length
  })
  expect(times).toEqual([0, 0, 0, 1, 1, 1, 1, 2])
  expect(givenBack.mock.invocationCallOrder[0]).toBeGreaterThan(collected.mock.invocationCallOrder[0] ?? 0)
  expect(givenBack).toHaveBeenCalledTimes(2)
})

it('leaves a thread alone that has hardly grown since', () => {
  vi.useFakeTimers()
  const collected = vi.fn()
  let user = 0
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user, system: 0 }))
  const gc = collected as unknown as NodeJS.GCFunction
  using _ = collectAtRest({ gc, everyMs: 10, heapBytes: () => 50e6 })
  for (user of [9_000, 0, 9_000, 0]) vi.advanceTimersByTime(10)
  expect(collected).not.toHaveBeenCalled()
})
