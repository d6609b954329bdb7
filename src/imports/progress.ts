import type { Clock } from '../lib/clock.ts'
import type { AcceptLine } from '../sources/model.ts'

/** How far the running import of a feed is; stands in the mirror for `status` and `load`. */
export interface ProgressState {
  sequence: number
  claim: string
  file: string
  phase: 'judging' | 'comparing' | 'applying' | 'removing'
  bytes: number
  bytesRead: number
  records: number
}

const everyMs = 250

/** Decides when progress is worth writing down: at most four times a second. */
export class ImportProgress {
  readonly #clock: Clock
  readonly #state: ProgressState
  #writtenAt: number

  constructor(accept: AcceptLine, clock: Clock) {
    this.#clock = clock
    // A small file, which may be urgent, has ended before anybody reads of it.
    this.#writtenAt = clock.monotonic()
    const { sequence, claim, name: file, bytes } = accept
    this.#state = { sequence, claim, file, phase: 'judging', bytes, bytesRead: 0, records: 0 }
  }

  /** JSON to write, or undefined when the last is recent enough. `records` are added, `bytesRead` replaces. */
  update(step: { phase?: ProgressState['phase']; bytesRead?: number; records?: number }): string | undefined {
    this.#state.phase = step.phase ?? this.#state.phase
    this.#state.bytesRead = step.bytesRead ?? this.#state.bytesRead
    this.#state.records += step.records ?? 0
    const now = this.#clock.monotonic()
    if (now - this.#writtenAt < everyMs) return undefined
    this.#writtenAt = now
    return JSON.stringify(this.#state)
  }
}
