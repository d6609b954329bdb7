import { setTimeout as delay } from 'node:timers/promises'

/** Time is injected, so that tests decide it. All values in milliseconds. */
export interface Clock {
  /** Wall-clock time since the epoch. */
  now(): number
  /** Never jumps; only differences mean anything. */
  monotonic(): number
  /** Rejects with the signal's reason when aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (delayMs, signal) => {
    await delay(delayMs, undefined, signal ? { signal } : {})
  },
}

/** ISO 8601. */
export function isoNow(clock: Pick<Clock, 'now'>): string {
  return new Date(clock.now()).toISOString()
}
