import type { Clock } from '../lib/clock.ts'
import { leaseMs } from '../outbox/model.ts'

const renewEveryMs = 5_000

export interface LeaseOptions {
  /** Extends the lease in the outbox; false when it has ended there. */
  renew: () => Promise<boolean>
  /** Monotonic time before the claim was asked for: the lease cannot have begun earlier. */
  beganAt: number
  clock: Clock
}

/**
 * Keeps a claim's lease alive while its calls run.
 *
 * held → renewed every 5 s → lost when the outbox says so, or when 15 s have passed without a successful renewal (Redis
 * away, or this process slept). Once lost it stays lost: the products may be in another process's call, so nothing
 * further is sent and the running call is given up; what it brought counts as unknown.
 */
export class Lease implements Disposable {
  readonly #options: LeaseOptions
  readonly #ended = new AbortController()
  readonly #lost = new AbortController()
  #renewedAt: number

  constructor(options: LeaseOptions) {
    this.#options = options
    this.#renewedAt = options.beganAt
    void this.#keep()
  }

  get held(): boolean {
    if (this.#restMs() <= 0) this.#lost.abort()
    return !this.#lost.signal.aborted
  }

  /** Aborted when it is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  [Symbol.dispose](): void {
    this.#ended.abort()
  }

  /** Waits for no renewal, since one may hang at a silent Redis while the lease ends. */
  async #keep(): Promise<void> {
    while (this.held) {
      try {
        await this.#options.clock.sleep(Math.min(renewEveryMs, this.#restMs()), this.#ended.signal)
      } catch {
        return
      }
      if (this.held) void this.#renew()
    }
  }

  #restMs(): number {
    return this.#renewedAt + leaseMs - this.#options.clock.monotonic()
  }

  async #renew(): Promise<void> {
    const askedAt = this.#options.clock.monotonic()
    try {
      if (await this.#options.renew()) this.#renewedAt = askedAt
      else this.#lost.abort()
    } catch {
      // Redis is away: the next try comes in 5 s, and the lease counts as lost when none succeeds in time.
    }
  }
}
