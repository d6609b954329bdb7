/** What delivery needs of a job queue that is shared by all processes of a catalog. */
export interface TicketQueue {
  /**
   * Makes sure that a ticket of this id waits, or is delayed by at most so long. One that waits already stays as it is;
   * one that is delayed for longer becomes due earlier; while one runs nothing happens: `onEnded` comes after it.
   * Ids hold no colons. A lower priority number runs first.
   */
  ensureTicket(ticket: { id: string; priority: number; delayMs?: number }): Promise<unknown>
  /** False: tickets may not come about, or not be run, at present. */
  areReliable(): Promise<boolean>
  /** Runs tickets, also those that other processes made, in so many slots until it is disposed. */
  runTickets(runner: TicketRun): AsyncDisposable
}

export interface TicketRun {
  concurrency: number
  /** Rejects only with a bug. The signal is aborted when the ticket should end. */
  onTicket: (id: string, signal: AbortSignal) => Promise<void>
  /** The ticket has left the queue, so that one of the same id can be made again. */
  onEnded: (id: string) => void
}

const urgentPriority = 1
const bulkPriority = 2

/**
 * The tickets of one process: one for urgent changes, the others for whatever is due. A ticket is a wake-up: permission
 * to run calls in one slot for a while. It holds nothing that could be lost with it.
 */
export class TicketPlan {
  readonly #queue: TicketQueue
  readonly #processName: string
  readonly #concurrency: number
  /** One slot less than there are, so that one is free for urgent changes; a process with one slot shares it. */
  readonly bulkTicketsMax: number

  constructor(
    queue: TicketQueue,
    { processName, concurrency }: { processName: string; concurrency: number },
  ) {
    this.#queue = queue
    this.#processName = processName
    this.#concurrency = concurrency
    this.bulkTicketsMax = Math.max(1, concurrency - 1)
  }

  /** Names for slots that run without a ticket. */
  withoutTickets({ urgentDue }: { urgentDue: boolean }): string[] {
    const bulk = Array.from({ length: this.bulkTicketsMax }, (_, index) => `bulk.alone.${index}`)
    return urgentDue ? ['urgent.alone', ...bulk] : bulk
  }

  isUrgent(id: string): boolean {
    return id.startsWith('urgent.')
  }

  /** A process with one slot needs none: its ticket takes urgent changes first, and leaves the others their share. */
  async ensureUrgent(): Promise<void> {
    if (this.#concurrency === 1) return
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
