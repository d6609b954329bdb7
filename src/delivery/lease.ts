import type { Clock } from '../lib/clock.ts'

/** What the outbox grants with a claim and with each renewal. */
const leaseMs = 15_000
const renewEveryMs = 5_000

export interface LeaseOptions {
  /** Extends the lease in the outbox; false when it has ended there. */
  renew: () => Promise<boolean>
  /** Monotonic time before the claim was asked for: the lease cannot have begun earlier. */
  beganAt: number
  clock: Clock
  /** Called after each renewal: waiting for the endpoint is no stall. */
  onRenewed: () => void
}

/**
 * Keeps a claim's lease alive while its calls run.
 *
 * held → renewed every 5 s → lost when the outbox says so, or when 15 s have passed without a successful renewal (Redis
 * away, or this process slept). Once lost it stays lost: the products may be in another process's call, so nothing
 * further is sent; what the running call brings is ignored by the outbox, which knows the token no longer.
 */
export class Lease implements Disposable {
  readonly #options: LeaseOptions
  readonly #ended = new AbortController()
  #renewedAt: number
  #lost = false

  constructor(options: LeaseOptions) {
    this.#options = options
    this.#renewedAt = options.beganAt
    void this.#keep()
  }

  get held(): boolean {
    if (this.#options.clock.monotonic() - this.#renewedAt >= leaseMs) this.#lost = true
    return !this.#lost
  }

  [Symbol.dispose](): void {
    this.#ended.abort()
  }

  async #keep(): Promise<void> {
    const { clock } = this.#options
    while (this.held) {
      try {
        await clock.sleep(renewEveryMs, this.#ended.signal)
      } catch {
        return
      }
      await this.#renew()
    }
  }

  async #renew(): Promise<void> {
    const askedAt = this.#options.clock.monotonic()
    try {
      if (await this.#options.renew()) {
        this.#renewedAt = askedAt
        this.#options.onRenewed()
      } else {
        this.#lost = true
      }
    } catch {
      // Redis is away: the next try comes in 5 s, and the lease counts as lost when none succeeds in time.
    }
  }
}
