import type { Clock } from '../../src/lib/clock.ts'

/** Time that passes only when a test says so; sleepers wake when it does. */
export class ManualClock implements Clock {
  #time = 1_800_000_000_000
  /** The clock of Redis, which goes along; called alone: what others see while this process sleeps. */
  onAdvance: ((byMs: number) => void) | undefined
  #sleepers = new Set<{ at: number; wake: () => void }>()

  now = () => this.#time
  monotonic = () => this.#time

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        this.#sleepers.delete(sleeper)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', onAbort)
        this.#sleepers.delete(sleeper)
        resolve()
      }
      const sleeper = { at: this.#time + delayMs, wake }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  advance(byMs: number): void {
    this.#time += byMs
    this.onAdvance?.(byMs)
    for (const { at, wake } of [...this.#sleepers]) if (at <= this.#time) wake()
  }
}
