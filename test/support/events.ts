import { setTimeout as delay } from 'node:timers/promises'

export interface WaitOptions {
  /** The wait fails after so long; it is no measurement. */
  withinMs?: number
  /** For the failure's message. */
  what?: string | (() => string)
}

/**
 * Waits for something that no event of this process announces (another process, a server, a file): asks every 10 ms
 * until the answer is neither false nor undefined, and returns it. What takes long to answer is asked less often.
 */
export async function waitFor<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { withinMs = 240_000, what = () => ask.toString() }: WaitOptions = {},
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const askedAt = performance.now()
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) {
      const description = typeof what === 'string' ? what : what()
      throw new Error(`did not happen within ${withinMs} ms: ${description}`)
    }
    await delay(Math.max(10, Math.min(250, 2 * (performance.now() - askedAt))))
  }
}
