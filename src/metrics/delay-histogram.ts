/** Upper bounds, in seconds: from an urgent change at once to a deferred one that waited for a day. */
const boundsS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400]

/** How long something took, counted by bounds. One that takes no lock, makes no object, and takes many of one value at once. */
export class DelayHistogram {
  readonly #boundsS: readonly number[]
  readonly #counts: number[]
  /** All, and their sum. */
  count = 0
  sumS = 0

  /** `longestS`: the last bound. */
  constructor(longestS = 86_400) {
    this.#boundsS = boundsS.filter((bound) => bound <= longestS)
    this.#counts = this.#boundsS.map(() => 0)
  }

  add(delayMs: number, times = 1): void {
    // A clock that was set back.
    const delayS = Math.max(0, delayMs) / 1_000
    this.count += times
    this.sumS += delayS * times
    const at = this.#boundsS.findIndex((bound) => delayS <= bound)
    if (at !== -1) this.#counts[at] = (this.#counts[at] ?? 0) + times
  }

  /** With each bound, how many are within it. */
  within(): { boundS: number; count: number }[] {
    let count = 0
    return this.#boundsS.map((boundS, at) => {
      count += this.#counts[at] ?? 0
      return { boundS, count }
    })
  }
}
