import type { Clock } from '../lib/clock.ts'

/** How soon to ask again; a probe may be taken by then. */
const untilProbedMs = 1_000

/**
 * Whether this process makes calls. Where it alone cannot, it leaves them to others: its failures would hold up theirs.
 *
 * `refused`: no → paused: the credentials of a call of this process were refused, which paused the catalog → alone: the probe
 * of another process was taken and resumed the catalog, so something is wrong here → no: a probe of this process was taken
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
