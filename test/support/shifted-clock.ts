import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../src/lib/clock.ts'

/** The system clock, moved by hand: who sleeps until a time that is passed so wakes up. */
export function shiftedClock() {
  let shiftMs = 0
  let moved = Promise.withResolvers<void>()
  const now = () => Date.now() + shiftMs
  const sleep: Clock['sleep'] = async (delayMs, signal) => {
    const wakeAt = now() + delayMs
    for (;;) {
      signal?.throwIfAborted()
      const leftMs = wakeAt - now()
      if (leftMs <= 0) return
      const given = new AbortController()
      const until = signal ? AbortSignal.any([signal, given.signal]) : given.signal
      await Promise.race([delay(leftMs, undefined, { signal: until }).catch(() => undefined), moved.promise])
      given.abort()
    }
  }
  return {
    clock: { now, monotonic: () => performance.now() + shiftMs, sleep } satisfies Clock,
    advance(byMs: number) {
      shiftMs += byMs
      moved.resolve()
      moved = Promise.withResolvers<void>()
    },
  }
}
