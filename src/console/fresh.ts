import type { Clock } from '../lib/clock.ts'

interface FreshOptions {
  clock: Clock
  /** Of what is read: another one makes all answers old. */
  version: () => unknown
}

const freshMs = 1_000
/** So old an answer may be while the next one is read. */
const staleMsMax = 5_000
/** A reading may take this share of the time. */
const restShare = 40

/**
 * One answer for all who ask within a second, or longer where it takes its time. Nobody waits for the next one while the
 * last one is not old.
 */
export class Fresh<T> {
  readonly #read: () => Promise<T>
  readonly #options: FreshOptions
  #last: { atMs: number; tookMs: number; answer: T } | undefined
  #reading: Promise<T> | undefined
  #version: unknown

  constructor(read: () => Promise<T>, options: FreshOptions) {
    this.#read = read
    this.#options = options
  }

  async read(): Promise<T> {
    const { clock, version } = this.#options
    if (this.#version !== version()) this.forget()
    this.#version = version()
    const { atMs = Number.NEGATIVE_INFINITY, tookMs = 0 } = this.#last ?? {}
    const ageMs = clock.monotonic() - atMs
    const freshUntilMs = Math.max(freshMs, tookMs * restShare)
    if (this.#last !== undefined && ageMs < freshUntilMs) return this.#last.answer
    this.#reading ??= this.#readNow()
    if (this.#last === undefined || ageMs > Math.max(staleMsMax, 2 * freshUntilMs)) return this.#reading
    // Whoever asks when the last one is old is told why it failed.
    this.#reading.catch(() => undefined)
    return this.#last.answer
  }

  /** Something was done that the next answer is to show. */
  forget(): void {
    this.#last = undefined
    this.#reading = undefined
  }

  #readNow(): Promise<T> {
    const { clock } = this.#options
    const atMs = clock.monotonic()
    const reading = this.#read().then(
      (answer) => {
        if (this.#reading === reading) {
          this.#last = { atMs, tookMs: clock.monotonic() - atMs, answer }
          this.#reading = undefined
        }
        return answer
      },
      (error: unknown) => {
        if (this.#reading === reading) this.#reading = undefined
        throw error
      },
    )
    return reading
  }
}
