import { afterEach, beforeEach, expect, test } from 'vitest'
import { watchedProgress } from '../../src/delivery/watched-progress.ts'
import { Watchdog } from '../../src/lib/watchdog.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { unguarded } from '../support/unguarded.ts'
import { openHarness } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

/** A ticket that is told to wait for the call rate each time it asks, under a watchdog with short ticks. */
async function runLimited(callsSoFar: (asked: number) => number, until: (asked: number) => boolean) {
  const stalls: string[] = []
  const onStall = (name: string) => stalls.push(name)
  await using watchdog = new Watchdog({ onStall, ticksMax: 10, tickMs: 20, heartbeat: unguarded() })
  using work = watchdog.watch('delivering')
  const progress = watchedProgress(work)
  await using h = await openHarness()
  let asked = 0
  h.outbox.claim = async () => {
    asked += 1
    // The sweep sees that there is something due.
    progress.expected()
    return { kind: 'wait', forMs: 5, calls: callsSoFar(asked) }
  }
  h.context.progress = progress
  const running = h.run()
  await waitFor(() => {
    h.clock.advance(5)
    return stalls.length > 0 || until(asked)
  })
  h.stop.abort()
  await running
  return { stalls, asked }
}

test('waiting for the call rate is a stall when nobody makes a call', async () => {
  const { stalls } = await runLimited(
    () => 7,
    () => false,
  )
  expect(stalls).toEqual(['delivering'])
})

test('waiting for the call rate is no stall while others make calls', async () => {
  const { stalls, asked } = await runLimited(
    (asked) => asked,
    (asked) => asked >= 200,
  )
  expect(stalls).toEqual([])
  expect(asked).toBeGreaterThanOrEqual(200)
})
