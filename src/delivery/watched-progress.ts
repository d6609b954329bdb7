import type { Watchdog } from '../lib/watchdog.ts'
import type { DeliveryProgress } from './context.ts'

/** Tells the watchdog of the process how delivery goes on. */
export function watchedProgress(watchdog: Watchdog, name: string): DeliveryProgress {
  const work = watchdog.watch(name)
  let callsSeen: number | undefined
  return {
    expected: () => work.expect(),
    made: () => work.rest(),
    limited: (calls) => {
      if (calls !== callsSeen) work.rest()
      callsSeen = calls
    },
    waiting: () => work.wait(),
  }
}

/** Asked for a call, and told to wait: no progress by itself. */
export function noteWait(progress: DeliveryProgress, { calls }: { calls?: number }): void {
  if (calls === undefined) progress.made()
  else progress.limited(calls)
}
