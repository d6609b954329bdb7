import type { WatchedWork } from '../lib/watchdog.ts'
import type { DeliveryProgress } from './context.ts'

/** Tells the watchdog of the process how delivery goes on, until `work` is disposed. */
export function watchedProgress(work: WatchedWork): DeliveryProgress {
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
