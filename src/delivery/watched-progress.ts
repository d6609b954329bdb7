import type { Watchdog } from '../lib/watchdog.ts'
import type { DeliveryProgress } from './context.ts'

/** Tells the watchdog of the process how delivery goes on. */
export function watchedProgress(watchdog: Watchdog, name: string): DeliveryProgress {
  const work = watchdog.watch(name)
  return { expected: () => work.expect(), made: () => work.rest(), waiting: () => work.wait() }
}
