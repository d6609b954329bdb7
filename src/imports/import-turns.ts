import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/settles-within.ts'

/** Files of up to so many bytes wait for no others. */
export const smallBytesMax = 1_000_000
/** A larger file waits at most so long at one of its batches. */
const waitMsMax = 100
/** After it has waited it goes on for this share of that time, however many small files come. */
const workShare = 0.2
/**
 * The changes of a small file still have to be delivered when its import is over: the process stays free for that. So long,
 * too, from when a file is found until it is imported.
 */
const lingerMs = 80

export interface ImportTurn extends Disposable {
  /** Before each batch: waits while a smaller file is being imported, for a moment at most. */
  take(): Promise<void>
  /** While it waits for other imports nobody makes way for it; until disposed. */
  rest(): Disposable
}

/**
 * Imports of one catalog share a thread. A batch of a large file takes it for some milliseconds, and a small
 * urgent file needs it some thirty times until its price is delivered: so larger files make way for smaller ones.
 */
export class ImportTurns {
  readonly #clock: Clock
  readonly #running = new Map<symbol, number>()
  #changed = Promise.withResolvers<void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(bytes: number): ImportTurn {
    const key = Symbol('import')
    this.#running.set(key, bytes)
    const end = () => {
      this.#running.delete(key)
      this.#changed.resolve()
      this.#changed = Promise.withResolvers<void>()
    }
    let worksUntil = Number.NEGATIVE_INFINITY
    return {
      take: async () => {
        const beganAt = this.#clock.monotonic()
        if (bytes <= smallBytesMax || beganAt < worksUntil) return
        await this.#untilSmallest(bytes)
        const now = this.#clock.monotonic()
        worksUntil = now + (now - beganAt) * workShare
      },
      rest: () => {
        end()
        return { [Symbol.dispose]: () => void this.#running.set(key, bytes) }
      },
      [Symbol.dispose]: () => void this.#clock.sleep(lingerMs).then(end),
    }
  }

  /** A file is being accepted, and may be a small one: that takes many steps, too, each of which waits for a processor. */
  makeWay(): void {
    this.begin(0)[Symbol.dispose]()
  }

  async #untilSmallest(bytes: number): Promise<void> {
    const giveUpAt = this.#clock.monotonic() + waitMsMax
    while ([...this.#running.values()].some((other) => other < bytes)) {
      const leftMs = giveUpAt - this.#clock.monotonic()
      if (leftMs <= 0) return
      await settlesWithin(this.#clock, leftMs, this.#changed.promise)
    }
  }
}
