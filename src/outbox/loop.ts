import { randomUUID } from 'node:crypto'
import type { Lane } from '../catalog/model.ts'
import { isDiskFull } from '../lib/database-failure.ts'
import { describeError } from '../lib/errors.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { isConnectionFailure, isFull, isPassing } from '../redis/failure.ts'
import { RunId } from '../redis/run-id.ts'
import { type Comparison, checkEndpoint, compare, isOldMirror, lanes } from './compare.ts'
import { Drain } from './drain.ts'
import { followCalls } from './follow-calls.ts'
import { beat, type LoopAccess, type LoopSettings, OutboxMovedError, raiseBeat } from './loop-access.ts'
import { leaseMs, type Offered } from './model.ts'
import { canAnswer, endFilling, hasOffers, isBehind, pump } from './pump.ts'
import { RedisMemory } from './redis-memory.ts'
import { type RedisState, readRedisState } from './redis-state.ts'
import { isStartingOver, type RepairAccess, reopen, repair, startOver } from './repair.ts'
import { NewCallService } from './serve-new-calls.ts'
import { takeCalls } from './told-calls.ts'

const retakeEveryMs = 5_000
const busyPauseMs = 50
const idlePauseMs = 1_000
const failedPauseMs = 500
const lastDrainMs = 5_000

export interface LoopOptions extends LoopSettings {
  /** A connection that never reconnects and never sends twice; the loop disconnects it. */
  connect: () => Promise<RedisConnection>
  /** Earlier runs of an embedded server that lost nothing. */
  cleanRuns?: readonly string[]
  onOffered?: (offered: Offered) => void
  /** Redis and mirror belong together, and what was lost is repaired. */
  onCompared?: () => void
  /** Redis, mirror and endpoint do not belong together, or a bug: the loop has ended. */
  onFatal: (error: unknown) => void
}

interface Current {
  access: LoopAccess
  drain: Drain
  newCalls: NewCallService
  takenAt: number
  /** The last turn did nothing but offer urgent changes. */
  wasUrgent: boolean
}

/**
 * Keeps the outbox in Redis a replica of the mirror's places.
 *
 * disconnected → compared (and repaired or started over) → turning: the operator's pause, beat, drain, pump → (the
 * connection breaks, another process takes over, Redis falls back) → disconnected → … → ended by disposal, or by a refusal.
 * One connection, one thing at a time: an old transaction can never follow what a later comparison found.
 */
export class OutboxLoop implements AsyncDisposable {
  readonly #options: LoopOptions
  readonly #stop = new AbortController()
  #current: Current | undefined
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined
  #isWoken = false
  #isTurning = false
  readonly #compared = Promise.withResolvers<void>()
  readonly #memory = new RedisMemory()
  /** Told once an outage. */
  #isAway = false

  constructor(options: LoopOptions) {
    const pendingBytes = Math.max(options.pendingBytes, 4 * options.delivery.callBytes)
    this.#options = { ...options, pendingBytes }
  }

  /** Resolves when Redis was compared for the first time, or is away; throws a refusal. */
  async start(): Promise<void> {
    const { catalog, mirror, endpoint } = this.#options
    // Also where Redis is away: what needs no Redis is sent, too.
    checkEndpoint({ catalog, identity: mirror.readIdentity(), endpoint })
    this.#running = this.#run().catch((error: unknown) => {
      this.#compared.reject(error)
      if (!this.#stop.signal.aborted) this.#options.onFatal(error)
    })
    await this.#compared.promise
  }

  /** A turn is under way. */
  get isWaiting(): boolean {
    return this.#isTurning
  }

  /** There may be something to offer, or will be when this thread comes to a turn. */
  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.wake()
    await this.#running
    if (this.#current) await this.#close(this.#current).catch(() => undefined)
    this.forget()
  }

  /** What the last calls achieved is known to commands while no loop runs. */
  async #close({ access, drain }: Current): Promise<void> {
    const endAt = access.clock.monotonic() + lastDrainMs
    access.mirror.newCalls.close(access.clock.now())
    let state = await readRedisState(access)
    while (drain.hasWork(state) && access.clock.monotonic() < endAt) {
      this.#checkWhole(access, state)
      await beat(access)
      await drain.run(state)
      state = await readRedisState(access)
    }
    // Files of Redis of a moment before, put back later, are told from those of now by it.
    await beat(access)
    // Twice: the first may be one that Redis has already.
    await beat(access)
    access.mirror.keepBeat()
  }

  /** As when the connection broke: the next turn compares again. */
  forget(): void {
    this.#current?.access.connection.disconnect()
    this.#current = undefined
  }

  /** One turn. Returns whether anything was done, and whether Redis holds anything of products. */
  async turn(): Promise<{ done: boolean; isBusy: boolean }> {
    const isWoken = this.#isWoken
    this.#isWoken = false
    const current = this.#current ?? (await this.#connect())
    const { access, drain, newCalls } = current
    // Who woke it has something to offer, as a rule: all that is asked for that is asked at once.
    // The lease first, since it is part of the guard, which is watched from then on.
    const retaking = this.#retake()
    const raising = isWoken ? raiseBeat(access) : undefined
    const asked = [readRedisState(access), this.#memory.isShort(access), raising, retaking] as const
    const [state, isShortOfMemory] = await Promise.all(asked)
    // What was committed by now is seen below.
    this.#isWoken = false
    this.#checkWhole(access, state)
    newCalls.begin(state)
    await followCalls(access, state)
    if (state.calls > 0) await takeCalls(access)
    const { mirror, clock, deferredAfterMs } = access
    mirror.numberDue({ nowMs: clock.now(), deferredAfterMs, rowsMax: 2_000 })
    const isShort = hasOffers(access, state) && isShortOfMemory
    const offers = isShort ? canAnswer(access, state) : hasOffers(access, state)
    const drains = drain.hasWork(state) && (!offers || drain.isUrgent(state))
    if (!offers && state.fills && !mirror.isImporting()) {
      await endFilling(access)
      this.#options.onOffered?.({ urgent: false, others: true })
    }
    const serves = newCalls.hasWork(state, offers || drains)
    if (!offers && !drains && !serves) return { done: false, isBusy: state.isBusy || newCalls.isBusy(state) }
    mirror.noteBeat(await (raising ?? raiseBeat(access)))
    // Urgent changes wait for nothing else of a turn; at most every other one is theirs, however steadily they come.
    current.wasUrgent = !current.wasUrgent && offers && !isShort && isBehind(access, state, 'urgent')
    if (serves && !current.wasUrgent) await newCalls.run(state, offers || drains)
    if (drains && !current.wasUrgent) await drain.run(state, offers ? 'besideOffers' : 'alone')
    const among = isShort ? [] : current.wasUrgent ? (['urgent'] as const) : lanes
    const offered = offers && (await this.#pump(access, state, among))
    return { done: offered || drains || serves, isBusy: true }
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        this.#isTurning = true
        const { done, isBusy } = await this.turn()
        if (!done) await this.#pause(isBusy ? busyPauseMs : idlePauseMs)
      } catch (error) {
        this.forget()
        this.#tell(error)
        this.#compared.resolve()
        await this.#pause(failedPauseMs)
      }
    }
  }

  async #connect() {
    const connection = await this.#options.connect()
    try {
      const runId = await new RunId(connection).read()
      const access: LoopAccess = { ...this.#options, connection, session: randomUUID(), runId }
      const takenAt = Number.NEGATIVE_INFINITY
      const newCalls = new NewCallService(access)
      this.#current = { access, drain: new Drain(access), newCalls, takenAt, wasUrgent: false }
      // A process that is refused takes nothing from the one that goes on.
      this.#judge(access, await readRedisState(access))
      await this.#retake()
      await this.#compare(access, newCalls)
      this.#options.onCompared?.()
      this.#isAway = false
      return this.#current
    } catch (error) {
      connection.disconnect()
      this.#current = undefined
      throw error
    }
  }

  async #compare(access: LoopAccess, newCalls: NewCallService): Promise<void> {
    const state = await readRedisState(access)
    const comparison = this.#judge(access, state)
    this.#compared.resolve()
    await this.#putRight({ ...access, forgetNewCalls: () => newCalls.forget() }, comparison, state)
    newCalls.open(state.positions.new)
  }

  async #putRight(access: RepairAccess, comparison: Comparison, state: RedisState): Promise<void> {
    const { mirror, log } = access
    const { guard, beat: known, positions } = state
    if (comparison === 'start-over') {
      log.warn('every product is sent once more')
      return startOver(access, guard)
    }
    if (comparison === 'restarted') return reopen(access, positions)
    if (comparison === 'whole') {
      if (known > mirror.readIdentity().beat) mirror.remember({ beat: known })
      return
    }
    await repair(access, comparison)
  }

  #judge(access: LoopAccess, { guard, beat: known, positions }: RedisState): Comparison {
    const { mirror, runId, catalog, endpoint, place, clock } = access
    try {
      return compare({
        ...{ catalog, endpoint, place, guard, runId, beat: known, positions },
        isStartingOver: isStartingOver(access, guard),
        identity: mirror.readIdentity(),
        cleanRuns: this.#options.cleanRuns ?? [],
      })
    } catch (error) {
      const { behindSinceMs } = mirror.readIdentity()
      if (isOldMirror(error) && behindSinceMs === undefined) mirror.remember({ behindSinceMs: clock.now() })
      throw error
    }
  }

  #checkWhole({ session, mirror, runId }: LoopAccess, { guard, beat: known }: RedisState): void {
    const isOurs = guard?.session === session && guard.isOpen && guard.runId === runId
    const { beat: remembered } = mirror.readIdentity()
    if (!isOurs || known < remembered || known > remembered + 1)
      throw new OutboxMovedError('Redis is not as it was')
  }

  /** One process at a time; a second one with the same mirror waits. */
  async #retake(): Promise<void> {
    const current = this.#current
    const { clock } = this.#options
    if (!current || clock.monotonic() - current.takenAt < retakeEveryMs) return
    const { access } = current
    access.mirror.writer.check()
    const holder = `${access.place.host} ${access.place.folder}`
    const takenAt = clock.monotonic()
    const args = [access.session, holder, leaseMs]
    const restMs = Number(await access.scripts.run(access.connection, 'take', args))
    if (restMs > 0)
      throw new OutboxMovedError('another process with this mirror offers; waiting for its lease to end')
    current.takenAt = takenAt
  }

  async #pump(access: LoopAccess, state: RedisState, among: readonly Lane[]): Promise<boolean> {
    try {
      const offered = await pump(access, state, among)
      if (offered) this.#options.onOffered?.(offered)
      // Not before: urgent changes would wait for it. Until then Redis is ahead by this beat, as when it was raised.
      access.mirror.keepBeat()
      return offered !== undefined
    } catch (error) {
      // What Redis holds is delivered, which makes room.
      if (!isFull(error)) throw error
      this.#tell(error)
      return false
    }
  }

  /** Throws what waiting does not help against. */
  #tell(error: unknown): void {
    if (!(error instanceof OutboxMovedError) && !isPassing(error) && !isDiskFull(error)) throw error
    // Of a connection that broke its owner tells.
    const level = isConnectionFailure(error) ? 'debug' : 'warn'
    const reason = describeError(error)
    if (!this.#isAway) this.#options.log[level]({ reason }, 'nothing is offered for the moment')
    this.#isAway = true
  }

  async #pause(forMs: number): Promise<void> {
    this.#isTurning = false
    if (!this.#isWoken && !this.#stop.signal.aborted) {
      const over = new AbortController()
      this.#wake = () => over.abort()
      await this.#options.clock.sleep(forMs, over.signal).catch(() => {})
      this.#wake = undefined
    }
  }
}
