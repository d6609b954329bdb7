import type { Log } from '../lib/log.ts'
import type { Offered } from '../outbox/model.ts'
import { TicketPlan, type TicketQueue } from './tickets.ts'

/** The plan of one that delivers, with a slot for urgent changes: its tickets run wherever there is a slot. */
const slots = { processName: 'offered', concurrency: 2 }
const nothing: Offered = { urgent: false, others: false }

/**
 * Wakes the processes that deliver, for one that offers and does not. They look once a second by themselves: a wake-up
 * that fails costs so long and nothing else.
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

  /** Never throws. What is offered during a wake-up needs one more, however much there was. */
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
        this.#log.debug({ err: error }, 'no process could be woken: they look by themselves')
      }
    }
    this.#isWaking = false
  }
}
