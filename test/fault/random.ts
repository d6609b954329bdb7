/** Random numbers that a run can repeat: `FAULT_SEED` of the environment, else a new seed that is printed. */
export interface SeededRandom {
  /** 0 ≤ value < 1. */
  next(): number
  /** A whole number from `from` up to and including `to`. */
  between(from: number, to: number): number
  /** True in this share of the cases. */
  chance(share: number): boolean
  pick<T>(list: readonly T[]): T
  readonly seed: number
}

export function seededRandom(label: string): SeededRandom {
  const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 1_000_000))
  console.log(`${label}: FAULT_SEED=${seed}`)
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    seed,
    next,
    between,
    chance: (share) => next() < share,
    pick: <T>(list: readonly T[]) => list[between(0, list.length - 1)] as T,
  }
}

/** How much longer than usual a run shall be: `FAULT_SCALE=5` for a long one. */
export const faultScale = Math.max(1, Number(process.env.FAULT_SCALE ?? 1))
