import type { Clock } from '../lib/clock.ts'

/**
 * Takes one turn after the other and sleeps between them until a time, or until it is woken: woken in a turn, it does not
 * sleep after it. Disposed, it ends with the turn that runs, or when a turn answers no time for the next.
 */
export class Loop implements AsyncDisposable {
  readonly #clock: Clock
  /** Answers in how many ms the next turn comes. */
  readonly #turn: () => Promise<number | undefined>
  #running: Promise<void> | undefined
  #isStopping = false
  #isWoken = false
  #sleeping: AbortController | undefined

  constructor(clock: Clock, turn: () => Promise<number | undefined>) {
    this.#clock = clock
    this.#turn = turn
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  start(): void {
    this.#running = this.#run()
  }

  wake(): void {
    this.#isWoken = true
    this.#sleeping?.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const restMs = await this.#turn()
      if (restMs === undefined) return
      if (!this.#isWoken) {
        this.#sleeping = new AbortController()
        // Being woken is the ordinary end of a sleep.
        await this.#clock.sleep(restMs, this.#sleeping.signal).catch(() => undefined)
        this.#sleeping = undefined
      }
      this.#isWoken = false
    }
  }
}
