import type { CallOutcome } from '../api/call-outcome.ts'
import type { FailureVerdict } from '../api/classify.ts'
import type { CallState } from '../consents/reader.ts'
import { type Clock, isoNow } from '../lib/clock.ts'
import { type PauseReason, probedForMs } from '../outbox/model.ts'
import { isGoodAnswer, probeTurnMs, showsCredentialsTaken, tokenDigest } from './probe.ts'
import { backoffMs, holdAfter } from './waiting.ts'

/** Timers are this coarse: so much of the rate is caught up with at once. */
const catchUpMs = 20
const holdMsMax = 86_400_000

/**
 * When a call of a consent may begin: not while they are paused, held back by the endpoint or by failures, or ahead of
 * the rate. Pauses, holds and failures outlive the process. Refused credentials are tried again with one consent, less and
 * less often, up to every 30 s; at once where this process begins, or another token stands in its file.
 */
export class ConsentPace {
  readonly #state: CallState
  readonly #clock: Clock
  readonly #options: { callsPerSecond: number; readToken: () => string }
  /** Monotonic ms, as all times here. */
  #heldUntil: number
  #nextCallAt = 0
  #probeAt = 0
  #probes = 0
  /** Digest of the token that was tried last. */
  #tried: string | undefined
  #probedAt = Number.NEGATIVE_INFINITY

  /** `state` is changed in place. */
  constructor(state: CallState, clock: Clock, options: { callsPerSecond: number; readToken: () => string }) {
    this.#state = state
    this.#clock = clock
    this.#options = options
    const restMs = state.holdUntilMs - clock.now()
    this.#heldUntil = clock.monotonic() + Math.min(holdMsMax, Math.max(0, restMs))
  }

  /** How long no call may begin; 0: one may. */
  waitMs(): number {
    if (Object.keys(this.#state.pauses).length > 0) return Number.POSITIVE_INFINITY
    const now = this.#clock.monotonic()
    return Math.max(0, this.#heldUntil - now, this.#nextCallAt - now)
  }

  /** A call begins. */
  take(): void {
    const from = Math.max(this.#nextCallAt, this.#clock.monotonic() - catchUpMs)
    this.#nextCallAt = from + 1000 / this.#options.callsPerSecond
  }

  pause(reason: PauseReason, hint: string): void {
    const { pauses } = this.#state
    if (!pauses.credentials) this.#tried = undefined
    // What a trial was answered now is said in place of what was.
    pauses[reason] = { since: isoNow(this.#clock), ...pauses[reason], hint }
  }

  /** A call failed: none begins for a while, longer with each, or for as long as the endpoint wished. */
  fail(verdict: Exclude<FailureVerdict, { kind: 'pause' }>): void {
    const [state, clock] = [this.#state, this.#clock]
    state.failuresInARow += 1
    state.lastFailure = { at: isoNow(this.#clock), text: verdict.description }
    const { forMs, reason } = holdAfter(verdict, backoffMs(state.failuresInARow, Math.random))
    const until = clock.monotonic() + forMs
    if (until > this.#heldUntil) {
      this.#heldUntil = until
      state.holdUntilMs = clock.now() + forMs
      state.holdReason = reason
    }
  }

  count(name: string, by = 1): void {
    const { counters } = this.#state
    counters[name] = (counters[name] ?? 0) + by
  }

  /** True once whenever it is time to try refused credentials with a consent. */
  takeProbeTurn(): boolean {
    const { credentials, ...others } = this.#state.pauses
    if (!credentials || Object.keys(others).length > 0) return false
    const [now, token] = [this.#clock.monotonic(), tokenDigest(this.#options.readToken)]
    if (token !== this.#tried) this.#probes = this.#probeAt = 0
    if (now < this.#probeAt) return false
    this.#probeAt = now + probeTurnMs(this.#probes++)
    this.#tried = token
    credentials.triedAt = isoNow(this.#clock)
    return true
  }

  /** Answers whether the credentials are not refused any more, by what became of the call that tried them. */
  endProbe(outcome: CallOutcome): boolean {
    if (!isGoodAnswer(outcome, 'consent')) return false
    if (showsCredentialsTaken(outcome)) this.#probedAt = this.#clock.monotonic()
    delete this.#state.pauses.credentials
    return true
  }

  get recentlyProbed(): boolean {
    return this.#clock.monotonic() - this.#probedAt < probedForMs
  }
}
