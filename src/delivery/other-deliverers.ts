import type { Log } from '../lib/log.ts'
import type { Offered } from '../outbox/model.ts'
import { TicketPlan, type TicketQueue } from './tickets.ts'

/** One ticket for urgent changes and one for all others, as a process with two slots makes them. Any process runs them. */
const slots = { processName: 'offered', concurrency: 2 }
const nothing: Offered = { urgent: false, others: false }

/**
 * Lets a process that imports but does not deliver wake those that do. They look for work once a second anyway: where a
 * wake-up fails, products wait that long and nothing is lost.
 */
export class OtherDeliverers {
  readonly #plan: TicketPlan
  readonly #log: Log
  #offered = nothing
  #isWaking = false

  constructor(tickets: Pick<TicketQueue, 'ensureTicket'>, log: Log) {
    this.#plan = new TicketPlan(tickets, slots)
    this.#log = log
  }

  /** Never throws. Whatever is offered during a wake-up takes one more. */
  wake({ urgent, others }: Offered): void {
    this.#offered = { urgent: this.#offered.urgent || urgent, others: this.#offered.others || others }
    if (!this.#isWaking) void this.#wakeUntilNothing()
  }

  async #wakeUntilNothing(): Promise<void> {
    this.#isWaking = true
    while (this.#offered !== nothing) {
      const { urgent, others } = this.#offered
      this.#offered = nothing
      try {
        if (urgent) await this.#plan.ensureUrgent()
        if (others) await this.#plan.ensureBulk(new Set())
      } catch (error) {
        this.#log.debug({ err: error }, 'no process could be woken: each looks for work once a second anyway')
      }
    }
    this.#isWaking = false
  }
}
