/** Random numbers that depend on nothing but the seed: mulberry32. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** The numbers of one case of a run. */
  static ofCase(seed: number, number: number): Random {
    const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b))
    random.next()
    return random
  }

  /** 0 ≤ value < 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number from 0 to `count - 1`. */
  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  /** A whole number from `from` up to and including `to`. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1)
  }

  /** True in this share of the cases. */
  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** As many as `count` says, each made anew. */
  list<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make)
  }
}
