import type { Clock } from '../lib/clock.ts'

/** Lets a loop sleep until a time or until it is woken; waking it while it works keeps its next sleep short. */
export class Waker {
  readonly #clock: Clock
  #isWoken = false
  #sleeping: AbortController | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wake(): void {
    this.#isWoken = true
    this.#sleeping?.abort()
  }

  async sleep(forMs: number): Promise<void> {
    if (!this.#isWoken) {
      const sleeping = new AbortController()
      this.#sleeping = sleeping
      // Being woken is the ordinary end of a sleep.
      await this.#clock.sleep(forMs, sleeping.signal).catch(() => undefined)
      this.#sleeping = undefined
    }
    this.#isWoken = false
  }
}
