import type { Clock } from '../lib/clock.ts'
import { safeLine } from '../lib/terminal-text.ts'
import type { BarLine } from './bar-line.ts'
import { formatAge } from './status-format.ts'
import { cut } from './table.ts'

const estimateAfterMs = 3_000
const windowMs = 20_000

/** How far something is, which never goes back, and how long the rest takes at the pace of the last 20 s. */
export class Estimate {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #seen: { at: number; share: number }[] = []
  #share = 0

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** `32 %, 2 min left` of a share 0..1. */
  describe(share: number): { percent: number; left: string } {
    this.#share = Math.max(this.#share, Math.min(1, share))
    const at = this.#clock.monotonic()
    this.#seen.push({ at, share: this.#share })
    while (at - (this.#seen[1]?.at ?? at) > windowMs) this.#seen.shift()
    const { at: from = at, share: before = 0 } = this.#seen[0] ?? {}
    const done = this.#share - before
    const isKnown = at - from >= estimateAfterMs && done > 0 && this.#share < 1
    const leftMs = Math.max(1_000, ((at - from) * (1 - this.#share)) / done)
    return { percent: Math.floor(100 * this.#share), left: isKnown ? `${formatAge(leftMs)} left` : '' }
  }
}

export interface ProgressBar extends Disposable {
  /** `share`: 0..1 of all passes. */
  show(share: number, text: string): void
}

/** A bar that runs once from 0 to 100 %, with the time that is left; nothing of it stays. */
export function openProgressBar(line: BarLine, clock: Pick<Clock, 'monotonic'>): ProgressBar {
  const estimate = new Estimate(clock)
  return {
    show: (share, text) => {
      const { percent, left } = estimate.describe(share)
      const width = line.columns < 60 ? 10 : 20
      const done = Math.round((width * percent) / 100)
      const bar = '█'.repeat(done) + '░'.repeat(width - done)
      const shown = `${bar} ${String(percent).padStart(3)} %  ${left.padEnd(11)}  ${safeLine(text)}`
      // A line that is full to its last column may break.
      line.show(cut(shown, line.columns - 1))
    },
    [Symbol.dispose]: () => line.clear(),
  }
}
