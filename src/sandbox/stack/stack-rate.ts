export interface RequestRate {
  requests: number
  perMs: number
}

export interface RateState {
  isSpent: boolean
  /** After this request. */
  remaining: number
  /** Whole seconds until all requests are free again; at least 1. */
  resetSeconds: number
}

/**
 * Counts requests in windows of fixed length. A window begins with the first request after the end of the one before,
 * so that a client that waits as long as it is told finds the whole rate again.
 */
export class RateWindow {
  readonly #rate: RequestRate
  #beganAtMs = Number.NEGATIVE_INFINITY
  #used = 0

  constructor(rate: RequestRate) {
    this.#rate = rate
  }

  take(atMs: number): RateState {
    const { requests, perMs } = this.#rate
    // A clock that was set back would otherwise keep the window open for as long.
    if (atMs >= this.#beganAtMs + perMs || atMs < this.#beganAtMs) this.#begin(atMs)
    const isSpent = this.#used >= requests
    if (!isSpent) this.#used += 1
    return {
      isSpent,
      remaining: requests - this.#used,
      resetSeconds: Math.max(1, Math.ceil((this.#beganAtMs + perMs - atMs) / 1000)),
    }
  }

  /** As if no request had come yet. */
  clear(): void {
    this.#begin(Number.NEGATIVE_INFINITY)
  }

  #begin(atMs: number): void {
    this.#beganAtMs = atMs
    this.#used = 0
  }
}
