import type { TicketQueue } from '../../src/delivery/tickets.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { RunTicketsOptions } from '../../src/redis/ticket-runner.ts'

/** A ticket queue in the memory of one process, with the promises that `TicketQueue` makes. */
export class MemoryTickets implements TicketQueue {
  readonly #waiting = new Map<string, { priority: number; dueAt: number }>()
  readonly #running = new Map<string, Promise<void>>()
  readonly #runners = new Set<{ run: RunTicketsOptions; slots: number; stop: AbortController }>()
  readonly #clock: Clock
  /** Most urgent and bulk tickets that ran at one time. */
  readonly most = { urgent: 0, bulk: 0 }

  /** How often a runner has left tickets to others. */
  rests = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async ensureTicket({
    id,
    priority,
    delayMs = 0,
  }: {
    id: string
    priority: number
    delayMs?: number
  }): ReturnType<TicketQueue['ensureTicket']> {
    if (this.#running.has(id)) return 'present'
    const dueAt = this.#clock.now() + delayMs
    const known = this.#waiting.get(id)
    if (known && known.dueAt <= dueAt) return 'present'
    this.#waiting.set(id, { priority, dueAt })
    if (delayMs === 0) this.#start()
    else void this.#clock.sleep(delayMs).then(() => this.#start())
    return 'added'
  }

  async areReliable() {
    return true
  }

  runTickets(run: RunTicketsOptions): ReturnType<TicketQueue['runTickets']> {
    const runner = { run, slots: run.concurrency, stop: new AbortController() }
    this.#runners.add(runner)
    return {
      rest: async () => {
        this.rests += 1
      },
      [Symbol.asyncDispose]: async () => {
        this.#runners.delete(runner)
        runner.stop.abort()
        await Promise.allSettled(this.#running.values())
      },
    }
  }

  #start(): void {
    for (const runner of this.#runners) {
      while (runner.slots > 0) {
        const id = this.#next()
        if (id === undefined) return
        this.#waiting.delete(id)
        runner.slots -= 1
        this.#running.set(id, this.#run(id, runner))
        this.#count()
      }
    }
  }

  #next(): string | undefined {
    const now = this.#clock.now()
    const due = [...this.#waiting].filter(([, { dueAt }]) => dueAt <= now)
    return due.sort(([, a], [, b]) => a.priority - b.priority)[0]?.[0]
  }

  async #run(
    id: string,
    runner: { run: RunTicketsOptions; slots: number; stop: AbortController },
  ): Promise<void> {
    await Promise.resolve()
    try {
      await runner.run.onTicket(id, runner.stop.signal)
    } finally {
      this.#running.delete(id)
      runner.slots += 1
      runner.run.onEnded?.(id)
      this.#start()
    }
  }

  #count(): void {
    const urgent = [...this.#running.keys()].filter((id) => id.startsWith('urgent')).length
    this.most.urgent = Math.max(this.most.urgent, urgent)
    this.most.bulk = Math.max(this.most.bulk, this.#running.size - urgent)
  }
}
