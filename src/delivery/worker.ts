import { AssertionError } from 'node:assert'
import { settlesWithin } from '../lib/settles-within.ts'
import { type ClaimMode, type Offered, urgentGraceMs } from '../outbox/model.ts'
import { isConnectionFailure } from '../redis/failure.ts'
import { CallGate } from './call-gate.ts'
import type { DeliveryContext } from './context.ts'
import { CredentialsProbe } from './probe.ts'
import { runTicket } from './run-ticket.ts'
import { Standing } from './standing.ts'
import { TicketPlan, type TicketQueue } from './tickets.ts'
import { finishWithinMs } from './waiting.ts'

const sweepEveryMs = 1_000
/** What is due may all be in flight: a ticket that found nothing is not replaced at once, lest tickets spin. */
const restAfterNothingMs = 50
/** Longer than Redis takes to be compared. */
const shutMsMax = 1_000
const tellShutAfterMs = 10_000

export interface DeliveryOptions extends Omit<DeliveryContext, 'gate' | 'giveUp' | 'random' | 'standing'> {
  tickets: TicketQueue
  /** 0 ≤ value < 1; default: Math.random. */
  random?: () => number
}

type WorkKind = 'sweep' | 'tickets' | 'calls'

/**
 * Delivers one catalog's outbox from this process.
 *
 * running → stopping (no further call starts; running ones finish, or are given up after 9 s and count as unknown) →
 * stopped. While running, a sweep every second makes the tickets that should exist, ends expired claims and probes
 * refused credentials, so that whatever is lost (a ticket, a wake-up, an answer of Redis) costs a second at most.
 */
export class Delivery implements AsyncDisposable {
  readonly #options: DeliveryOptions
  readonly #context: DeliveryContext
  readonly #plan: TicketPlan
  readonly #probe: CredentialsProbe
  readonly #stopping = new AbortController()
  readonly #giveUp = new AbortController()
  readonly #runner: ReturnType<TicketQueue['runTickets']>
  readonly #sweeping: Promise<void>
  readonly #bulkRunning = new Set<string>()
  /** How long to rest before the next look, by ticket, until it has left the queue; `undefined`: no look is needed. */
  readonly #rests = new Map<string, number | undefined>()
  /** Slots that run without a ticket. */
  readonly #alone = new Map<string, Promise<void>>()
  /** The slot for urgent changes: one run at a time, with a ticket or without. */
  #urgentRunning: 'no' | 'yes' | 'again' = 'no'
  #looksSoon = false
  /** Since when no call of this process may begin, monotonic ms. */
  #shutSince: number | undefined
  #toldShut = false
  #looking: 'no' | 'yes' | 'again' = 'no'
  /** Kinds of work that the outbox refuses: it may still answer what only reads. */
  readonly #failing = new Set<WorkKind>()

  constructor(options: DeliveryOptions) {
    this.#options = options
    const { tickets, random = Math.random, ...rest } = options
    this.#context = {
      ...rest,
      random,
      giveUp: this.#giveUp.signal,
      gate: new CallGate(),
      standing: new Standing(rest.clock),
    }
    this.#plan = new TicketPlan(tickets, { ...rest, concurrency: options.config.concurrency })
    this.#probe = new CredentialsProbe(this.#context)
    this.#runner = tickets.runTickets({
      concurrency: options.config.concurrency,
      onTicket: (id, signal) => this.#runTicket(id, signal),
      onEnded: (id) => void this.#lookAgain(id),
    })
    this.#sweeping = this.#sweepUntilStopped()
  }

  /**
   * There may be something to send. Urgent changes wait for no ticket here; other slots help where that takes long. Never
   * throws.
   */
  wake({ urgent, others }: Offered = { urgent: false, others: true }): void {
    const isTaken = urgent && this.#plan.hasUrgentSlot
    if (isTaken) this.#takeUrgent()
    if (others || !isTaken) void this.#look()
    else void this.#lookSoon()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    const finished = this.#runner[Symbol.asyncDispose]().then(() => Promise.all(this.#alone.values()))
    await settlesWithin(this.#options.clock, finishWithinMs, finished)
    // Ends late calls, and a probe that is still waiting for its answer.
    this.#giveUp.abort()
    await finished
    await this.#sweeping
  }

  async #sweepUntilStopped(): Promise<void> {
    const { clock } = this.#options
    while (!this.#stopping.signal.aborted) {
      await this.#guard('sweep', () => this.#sweep())
      await clock.sleep(sweepEveryMs, this.#stopping.signal).catch(() => {})
    }
  }

  async #sweep(): Promise<void> {
    const { outbox, log } = this.#options
    if (this.#context.standing.restMs > 0) outbox.rest()
    else outbox.prepare()
    const expired = await outbox.expireClaims()
    if (expired > 0) {
      log.warn(
        { products: expired },
        'a call ended without its outcome being known: its products are sent again',
      )
    }
    const paused = await outbox.pausedFor()
    if (paused.length === 0) {
      await this.#probe.probeAlone()
      return this.#look()
    }
    this.#options.progress.made()
    if (await this.#probe.probe(paused)) await this.#look()
  }

  /** One look at a time; a wake during it makes one more, however many there were. */
  async #look(): Promise<void> {
    if (this.#looking !== 'no') {
      this.#looking = 'again'
      return
    }
    do {
      this.#looking = 'yes'
      await this.#guard('tickets', () => this.#makeTickets())
      // Reread, because a wake may have come meanwhile.
    } while ((this.#looking as string) === 'again' && !this.#stopping.signal.aborted)
    this.#looking = 'no'
  }

  async #makeTickets(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    const { outbox, progress } = this.#options
    const { urgentDue, anyDue, isShut, nextDueMs } = await outbox.lookDue()
    await this.#noteShut(isShut)
    if (anyDue) progress.expected()
    else progress.made()
    if (anyDue && !(await this.#options.tickets.areReliable())) return this.#runWithoutTickets(urgentDue)
    if (urgentDue && this.#urgentRunning === 'no') await this.#plan.ensureUrgent()
    if (anyDue) await this.#plan.ensureBulk(this.#bulkRunning)
    else if (nextDueMs !== undefined) await this.#plan.ensureDelayed(nextDueMs)
  }

  /** Redis may be too full for tickets, although what delivery itself writes goes through, and makes room. */
  #runWithoutTickets(urgentDue: boolean): void {
    if (urgentDue && this.#plan.hasUrgentSlot) this.#takeUrgent()
    for (const id of this.#plan.withoutTickets) if (!this.#alone.has(id)) this.#runAlone(id)
  }

  /** At once, without a ticket. */
  #takeUrgent(): void {
    if (this.#stopping.signal.aborted) return
    if (this.#urgentRunning === 'no') this.#runAlone(this.#plan.urgentAlone)
    else this.#urgentRunning = 'again'
  }

  #runAlone(id: string): void {
    const run = this.#runTicket(id, this.#stopping.signal).finally(() => this.#alone.delete(id))
    this.#alone.set(
      id,
      run.then(() => void this.#lookAgain(id)),
    )
  }

  async #runTicket(id: string, signal: AbortSignal): Promise<void> {
    const stop = AbortSignal.any([signal, this.#stopping.signal])
    if (this.#plan.isUrgent(id)) return this.#runUrgent(id, stop)
    // Tickets of a process that died would fill the slot that is kept for urgent changes: they end here.
    if (this.#bulkRunning.size >= this.#plan.bulkTicketsMax) {
      // The tickets that fill the slots look when they end.
      this.#rests.set(id, undefined)
      return
    }
    this.#bulkRunning.add(id)
    try {
      await this.#guard('calls', () => this.#runCalls(id, 'any', stop))
    } finally {
      this.#bulkRunning.delete(id)
    }
  }

  /** Who comes while it runs makes it ask once more. */
  async #runUrgent(id: string, stop: AbortSignal): Promise<void> {
    if (this.#urgentRunning !== 'no') {
      this.#urgentRunning = 'again'
      this.#rests.set(id, undefined)
      return
    }
    do {
      this.#urgentRunning = 'yes'
      await this.#guard('calls', () => this.#runCalls(id, 'urgent', stop))
      // Reread, because a wake may have come meanwhile.
    } while ((this.#urgentRunning as string) === 'again' && !stop.aborted)
    this.#urgentRunning = 'no'
  }

  async #runCalls(id: string, mode: ClaimMode, stop: AbortSignal): Promise<void> {
    const end = await runTicket(mode, this.#context, stop)
    if (end.kind === 'idle' && end.calls === 0) this.#rests.set(id, restAfterNothingMs)
    // Others may need the tickets.
    if (end.kind === 'shut' && (this.#context.standing.restMs > 0 || this.#shutForMs > shutMsMax))
      void this.#runner.rest()
    if (end.kind === 'wait' || end.kind === 'shut') this.#rests.set(id, Math.min(end.forMs, sweepEveryMs))
    this.#options.log.debug({ ticket: id, ...end }, 'ticket ended')
  }

  get #shutForMs(): number {
    return this.#shutSince === undefined ? 0 : this.#options.clock.monotonic() - this.#shutSince
  }

  /** Told once: where no other process delivers, nothing is sent at all. */
  async #noteShut(isShut: boolean): Promise<void> {
    const { clock, outbox, log } = this.#options
    if (!isShut) {
      this.#shutSince = undefined
      this.#toldShut = false
      return
    }
    this.#shutSince ??= clock.monotonic()
    if (this.#toldShut || this.#shutForMs < tellShutAfterMs) return
    const reason = await outbox.pass.explain()
    if (reason) log.warn(`nothing is sent from here: ${reason}`)
    this.#toldShut = reason !== undefined
  }

  /** Other slots leave urgent changes to theirs for so long. */
  async #lookSoon(): Promise<void> {
    if (this.#looksSoon) return
    this.#looksSoon = true
    await this.#options.clock.sleep(urgentGraceMs, this.#stopping.signal).catch(() => {})
    this.#looksSoon = false
    await this.#look()
  }

  /** What was offered while a ticket ended found it still in the queue, so that no new one was made for it. */
  async #lookAgain(id: string): Promise<void> {
    const restMs = this.#rests.has(id) ? this.#rests.get(id) : 0
    this.#rests.delete(id)
    if (restMs === undefined) return
    if (restMs > 0) await this.#options.clock.sleep(restMs, this.#stopping.signal).catch(() => {})
    await this.#look()
  }

  /**
   * Redis may fail at any time. What was claimed then stays claimed until its lease ends, which counts as unknown; the
   * next sweep tries again. Logged once an outage and kind of work. A bug is thrown on.
   */
  async #guard(kind: WorkKind, work: () => Promise<void>): Promise<void> {
    try {
      await work()
      if (this.#failing.delete(kind) && this.#failing.size === 0) {
        this.#options.log.info('delivery goes on: the outbox answers again')
      }
    } catch (error) {
      if (isBug(error)) throw error
      this.#options.progress.made()
      // Of a connection that broke its owner tells.
      if (isConnectionFailure(error) || this.#failing.has(kind)) return
      this.#options.log.error({ err: error, kind }, 'delivery waits: the outbox cannot be used')
      this.#failing.add(kind)
    }
  }
}

function isBug(error: unknown): boolean {
  const kinds = [AssertionError, TypeError, RangeError, ReferenceError]
  return kinds.some((kind) => error instanceof kind)
}
