import type { Clock } from '../lib/clock.ts'
import { parseRetryAfter } from '../lib/retry-after.ts'
import type { CallOutcome, CallResponse } from './call-outcome.ts'

const backoffMsBase = 1_000
const backoffMsCap = 60_000
/** Seconds that are more than three years are no duration but a point in time. */
const epochSecondsMin = 100_000_000

/**
 * Keeps the pace that the rate-limit headers of a server ask for, over all calls of a client.
 *
 * open → closed until a moment, when an answer says that nothing remains or refuses a call for its rate → open again when
 * that moment has come. Several refusals in a row without a word about the time double the wait.
 */
export class RatePace {
  readonly #clock: Clock
  #closedUntil = Number.NEGATIVE_INFINITY
  #refusedInRow = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long no call may begin; 0 when one may. */
  get waitMs(): number {
    return Math.max(0, Math.ceil(this.#closedUntil - this.#clock.monotonic()))
  }

  /** Takes in what an answer says; answers whether it refused the call for its rate, so that nothing took effect. */
  note(outcome: CallOutcome): boolean {
    if (outcome.kind !== 'response') return false
    const nothingRemains = outcome.headers['x-api-remaining-requests']?.trim() === '0'
    const isRefused = outcome.status === 429 || (outcome.status === 403 && nothingRemains)
    this.#refusedInRow = isRefused ? this.#refusedInRow + 1 : 0
    if (!isRefused && !nothingRemains) return false
    const told = this.#toldMs(outcome.headers)
    // A server that refuses although its time is over, or names none, is asked ever more seldom.
    const backoff = Math.min(backoffMsCap, backoffMsBase * 2 ** Math.max(0, this.#refusedInRow - 1))
    const waitMs = isRefused && (told ?? 0) === 0 ? backoff : (told ?? 0)
    this.#closedUntil = Math.max(this.#closedUntil, this.#clock.monotonic() + waitMs)
    return isRefused
  }

  #toldMs(headers: CallResponse['headers']): number | undefined {
    const now = this.#clock.now()
    const reset = resetMs(headers['x-api-remaining-requests-reset'], now)
    const after = parseRetryAfter(headers['retry-after'], now)
    return reset === undefined && after === undefined ? undefined : Math.max(reset ?? 0, after ?? 0)
  }
}

function resetMs(value: string | undefined, now: number): number | undefined {
  const seconds = /^\d+(\.\d+)?$/.test(value?.trim() ?? '') ? Number(value) : undefined
  if (seconds === undefined) return undefined
  return seconds < epochSecondsMin ? Math.ceil(seconds * 1000) : Math.max(0, Math.ceil(seconds * 1000 - now))
}
