import type { Clock } from '../lib/clock.ts'

const untilProbedMs = 1_000

/**
 * Where others deliver and this process cannot, it leaves them the calls: each that it makes would hold up or pause theirs.
 *
 * `refused`: no · paused (a call of this process was refused for its credentials, which paused the catalog) · alone (another
 * process has resumed since: this one's own credentials, or its way to the endpoint, are to blame, until its probe is taken)
 */
export class Standing {
  readonly #clock: Clock
  /** Calls of this process in a row that were not answered. */
  #unanswered = 0
  #untilMs = Number.NEGATIVE_INFINITY
  refused: 'no' | 'paused' | 'alone' = 'no'

  constructor(clock: Clock) {
    this.#clock = clock
  }

  noteAnswer(): void {
    this.#unanswered = 0
  }

  /** Returns how many calls in a row. */
  noteSilence(): number {
    this.#unanswered += 1
    return this.#unanswered
  }

  standBack(forMs: number): void {
    this.#untilMs = this.#clock.monotonic() + forMs
  }

  /** For so long this process claims nothing; 0: it may. */
  get restMs(): number {
    if (this.refused !== 'no') return untilProbedMs
    return Math.max(0, this.#untilMs - this.#clock.monotonic())
  }
}
