import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

/**
 * Turns the stream of errors of reconnecting connections into one line when Redis goes away and one when it is back.
 *
 * up → (failed) → down → (recovered) → up
 */
export class OutageLog {
  readonly #options: { log: Log; clock: Clock; address: string }
  #since: number
  #up = true
  #lastError: unknown

  constructor(options: { log: Log; clock: Clock; address: string }) {
    this.#options = options
    this.#since = options.clock.now()
  }

  get up(): boolean {
    return this.#up
  }

  /** Wall-clock ms of the last change between up and down. */
  get since(): number {
    return this.#since
  }

  get lastError(): unknown {
    return this.#lastError
  }

  failed(error: unknown): void {
    this.#lastError = error
    if (!this.#up) return
    const { log, clock, address } = this.#options
    this.#up = false
    this.#since = clock.now()
    log.warn({ address, error }, 'Redis cannot be reached; trying again')
  }

  /** A server that ends in order closes its connections without an error. */
  closed(): void {
    if (this.#up) this.failed(new Error('it closed the connection'))
  }

  recovered(): void {
    if (this.#up) return
    const { log, clock, address } = this.#options
    const now = clock.now()
    log.info({ address, downMs: now - this.#since }, 'Redis is back')
    this.#up = true
    this.#since = now
    this.#lastError = undefined
  }
}
