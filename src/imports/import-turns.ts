import type { Clock } from '../lib/clock.ts'

/** A larger file waits at most so long at each of its batches, so that it goes on however many small ones come. */
const waitMsMax = 100
/** The changes of a small file still have to be delivered when its import is over: the process stays free for that. */
const lingerMs = 40

export interface ImportTurn extends Disposable {
  /** Before each batch: waits while a smaller file is being imported, for a moment at most. */
  take(): Promise<void>
  /** While it waits for other imports nobody makes way for it; until disposed. */
  rest(): Disposable
}

/**
 * Imports of different feeds share one thread. A batch of a large file takes it for some milliseconds, and a small
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
    return {
      take: () => this.#take(bytes),
      rest: () => {
        end()
        return { [Symbol.dispose]: () => void this.#running.set(key, bytes) }
      },
      [Symbol.dispose]: () => void this.#clock.sleep(lingerMs).then(end),
    }
  }

  async #take(bytes: number): Promise<void> {
    const giveUpAt = this.#clock.monotonic() + waitMsMax
    while ([...this.#running.values()].some((other) => other < bytes)) {
      const leftMs = giveUpAt - this.#clock.monotonic()
      if (leftMs <= 0) return
      await Promise.race([this.#changed.promise, this.#clock.sleep(leftMs)])
    }
  }
}
