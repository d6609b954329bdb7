import type { TicketQueue as SharedTicketQueue } from '../redis/tickets.ts'

/** What delivery needs of the job queue that all processes of a catalog share. */
export type TicketQueue = Pick<SharedTicketQueue, 'ensureTicket' | 'areReliable' | 'runTickets'>

type TicketMaker = Pick<TicketQueue, 'ensureTicket'>

const urgentPriority = 1
const bulkPriority = 2

/**
 * The tickets of one process: one for urgent changes, the others for whatever is due. A ticket is a wake-up: permission
 * to run calls in one slot for a while. It holds nothing that could be lost with it.
 */
export class TicketPlan {
  readonly #queue: TicketMaker
  readonly #processName: string
  readonly #concurrency: number
  /** One slot less than there are, so that one is free for urgent changes; a process with one slot shares it. */
  readonly bulkTicketsMax: number

  constructor(
    queue: TicketMaker,
    { processName, concurrency }: { processName: string; concurrency: number },
  ) {
    this.#queue = queue
    this.#processName = processName
    this.#concurrency = concurrency
    this.bulkTicketsMax = Math.max(1, concurrency - 1)
  }

  /** Names for slots that run without a ticket. */
  readonly urgentAlone = 'urgent.alone'

  get withoutTickets(): string[] {
    return Array.from({ length: this.bulkTicketsMax }, (_, index) => `bulk.alone.${index}`)
  }

  /** A process with one slot has none: its ticket takes urgent changes first, and leaves the others their share. */
  get hasUrgentSlot(): boolean {
    return this.#concurrency > 1
  }

  isUrgent(id: string): boolean {
    return id.startsWith('urgent.')
  }

  async ensureUrgent(): Promise<void> {
    if (!this.hasUrgentSlot) return
    await this.#queue.ensureTicket({ id: `urgent.${this.#processName}`, priority: urgentPriority })
  }

  /** As many as there are free slots, given the tickets (of any process) that run here. */
  async ensureBulk(running: ReadonlySet<string>): Promise<void> {
    const ids = Array.from({ length: this.bulkTicketsMax }, (_, index) => this.#bulkId(index))
    const free = ids
      .filter((id) => !running.has(id))
      .slice(0, Math.max(0, this.bulkTicketsMax - running.size))
    await Promise.all(free.map((id) => this.#queue.ensureTicket({ id, priority: bulkPriority })))
  }

  /** For work that becomes due later: one is enough, it makes the others when there is more than it can do. */
  async ensureDelayed(delayMs: number): Promise<void> {
    await this.#queue.ensureTicket({ id: this.#bulkId(0), priority: bulkPriority, delayMs })
  }

  #bulkId(index: number): string {
    return `bulk.${this.#processName}.${index}`
  }
}
