import type { Clock } from './clock.ts'

/** Whether a promise settles in so long; throws what it is rejected with. Leaves no timer behind, which would keep the process. */
export async function settlesWithin(
  clock: Pick<Clock, 'sleep'>,
  delayMs: number,
  promise: PromiseLike<unknown>,
): Promise<boolean> {
  const over = new AbortController()
  const late = clock.sleep(delayMs, over.signal).then(
    () => false,
    () => true,
  )
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    over.abort()
  }
}
