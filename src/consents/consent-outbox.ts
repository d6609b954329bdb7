import { randomUUID } from 'node:crypto'
import type { ConsentId, ProductId } from '../lib/brand.ts'
import type { Log } from '../lib/log.ts'
import { parseIdle, parseWithheld } from '../outbox/claim-answer.ts'
import type {
  ClaimAnswer,
  ClaimedProduct,
  ClaimMode,
  DueAnswer,
  Refusal,
  ReleaseOutcome,
} from '../outbox/model.ts'
import { leaseMs, RedisOutbox, type RedisOutboxOptions } from '../outbox/outbox.ts'
import { rejectArguments } from '../outbox/refusals.ts'
import type { OutboxScripts } from '../outbox/scripts.ts'
import { type ConsentCall, OpenCalls, readClaim } from './calls.ts'
import type { CatchUp } from './catch-up.ts'
import { digestConsent } from './document.ts'
import { expiredCalls } from './expired-calls.ts'
import type { ConsentGate } from './gate.ts'
import type { ConsentJournal } from './journal.ts'
import type { ConsentPosition } from './position.ts'
import { mayBeSent } from './unconfirmed.ts'

/** Redis is behind, or the disk is failing: looked at again after so long. */
const behindMs = 250
const busyMs = 20
/** Acknowledgements that only the journal knows: beyond them Redis is waited for. */
const untoldMax = 1_000

export interface ConsentOutboxOptions extends RedisOutboxOptions {
  journal: ConsentJournal
  catchUp: CatchUp
  gate: ConsentGate
  log: Log
  /** What became of a claim's call is durable. */
  onSettled: (token: string) => void
  /** The disk is waited for until it is disposed. */
  waiting: () => Disposable
}

/**
 * The outbox of consents: one a call, never echoed. What distinguishes it from that of products is the journal: an
 * acknowledgement, and an outcome that is not known, is durable on disk before anything else is done about it, and
 * Redis only follows. Used by one process at a time, the holder of the state lock.
 */
export class ConsentOutbox extends RedisOutbox {
  readonly #options: ConsentOutboxOptions
  readonly #calls = new OpenCalls()
  /** Told once, until a claim is answered again. */
  #isBehind = false

  constructor(options: ConsentOutboxOptions) {
    super(options)
    this.#options = options
  }

  override claim({ mode }: { mode: ClaimMode }): Promise<ClaimAnswer> {
    return this.#claim(mode, '')
  }

  /** One consent although refused credentials stop all others. */
  claimTrial(): Promise<ClaimAnswer> {
    return this.#claim('any', 'credentials')
  }

  /** Which record a claim of this process sends. */
  positionOf(token: string): ConsentPosition | undefined {
    return this.#calls.get(token)?.position
  }

  /**
   * A lease that Redis forgot does not end the call: no other process sends consents while this one holds the state
   * lock, and no other slot sends this one while it is open here. Redis that does not answer is another matter.
   */
  override async renew(token: string): Promise<boolean> {
    return (await super.renew(token)) || this.#calls.get(token) !== undefined
  }

  override async acknowledge(token: string, products: readonly ClaimedProduct[]): Promise<void> {
    const call = this.#calls.get(token)
    if (!call || products.length === 0) return
    const { journal, clock, waiting } = this.#options
    const { id, consent, position } = call
    let offset: number
    {
      using _ = waiting()
      offset = await journal.append({ event: 'acknowledged', id, consent, position, at: clock.now() })
    }
    this.#settled(call, offset)
    // Redis may take its time, or be away: the next claim, or the next sweep, asks again.
    this.#follow().catch(() => {})
  }

  override async release(token: string, ids: readonly ProductId[], outcome: ReleaseOutcome): Promise<void> {
    const call = this.#calls.get(token)
    if (!call || ids.length === 0) return
    try {
      if (outcome !== 'not-sent') await this.#noteFailure(call, outcome)
    } finally {
      this.#settled(call)
    }
    await this.#giveBack(token, outcome === 'not-sent' ? 'not-sent' : 'failed', call.id)
  }

  override async reject(token: string, refusals: readonly Refusal[]): Promise<void> {
    await this.#reject(token, refusals, '0')
  }

  override rejectUnnamed(
    token: string,
    refusals: readonly Refusal[],
  ): Promise<'rejected' | 'refuses-everything'> {
    return this.#reject(token, refusals, '1')
  }

  /** Consents that were refused since the last one was accepted are due again; answers how many there were. */
  async takeBackRefused(): Promise<number> {
    return Number(await this.#run('take-back', []))
  }

  override async expireClaims(): Promise<number> {
    const { connection, keys, journal } = this.#options
    // What is acknowledged in the journal is no expired claim, although Redis may hold it for one.
    await this.#follow()
    await this.correctTimes()
    const expired = await expiredCalls(connection, keys)
    for (const { id, position, began } of expired) {
      if (!this.#calls.has(id)) await journal.append({ event: 'unconfirmed', id, position, at: began })
    }
    if (expired.length > 0) await this.#follow()
    let count = 0
    for (const { token, id } of expired) count += await this.#giveBack(token, 'expired', id)
    return count
  }

  /** Redis learns what it can be told, so that a status that is read afterwards is right. Never throws. */
  async flush(): Promise<void> {
    await this.#follow().catch(() => {})
  }

  override async lookDue(): Promise<DueAnswer> {
    const { gate, journal } = this.#options
    if (!gate.required || journal.failing) return { urgentDue: false, anyDue: false, nextDueMs: undefined }
    return super.lookDue()
  }

  /** A consent call has no body. */
  override countCall(call: { products: number; answered: boolean }): Promise<void> {
    return super.countCall({ ...call, bodyBytes: 0 })
  }

  async #claim(mode: ClaimMode, ignoredPause: string): Promise<ClaimAnswer> {
    const { gate, journal, catchUp, clock, delivery } = this.#options
    if (catchUp.told === undefined || this.#calls.untold > untoldMax) await this.#follow()
    const { required } = gate
    const { told } = catchUp
    if (!required || told === undefined || journal.failing) return { kind: 'wait', forMs: behindMs }
    const token = randomUUID()
    const answer = (await this.#run('claim-consent', [
      token,
      leaseMs,
      mode,
      delivery.callsPerSecond,
      ignoredPause,
      required.token,
      required.position,
      journal.prefix,
      told,
    ])) as unknown[]
    const [answered, ...rest] = answer
    const kind = String(answered)
    if (kind === 'behind') return this.#catchUpWith(String(rest[0]))
    const withheld = kind === 'idle' ? parseIdle(rest) : parseWithheld(kind, rest)
    if (withheld) return withheld
    this.#isBehind = false
    return this.#openCall(readClaim(token, rest, clock))
  }

  /** What the journal knows is handed over here; what was accepted is applied again by the import, which opens the gate. */
  async #catchUpWith(what: string): Promise<ClaimAnswer> {
    const { catchUp, log } = this.#options
    if (!this.#isBehind)
      log.warn({ what }, 'Redis lost what it knew of consents: none is sent until it has caught up')
    this.#isBehind = true
    if (what !== 'journal') return { kind: 'wait', forMs: behindMs }
    catchUp.distrust()
    await this.#follow()
    return { kind: 'wait', forMs: busyMs }
  }

  async #openCall(call: ConsentCall): Promise<ClaimAnswer> {
    const { clock, delivery } = this.#options
    if (this.#calls.has(call.id)) {
      await this.#giveBack(call.token, 'busy', call.id)
      return { kind: 'wait', forMs: busyMs }
    }
    this.#calls.add(call)
    if (mayBeSent({ ...call, now: clock.now(), horizonMs: delivery.horizonMs }))
      return { kind: 'claimed', claim: call.claim }
    await this.#park(call)
    return { kind: 'wait', forMs: 0 }
  }

  async #park(call: ConsentCall): Promise<void> {
    const { token, id, position, unconfirmed } = call
    const { delivery, log, clock } = this.#options
    const since = new Date(unconfirmed?.at ?? 0).toISOString()
    const reason = `not confirmed: the grant was first sent at ${since}, no answer said what became of it, and it is not repeated after ${delivery.horizonMs / 1000} s; look it up, then retry or drop it`
    const at = new Date(clock.now()).toISOString()
    try {
      const parked = await this.#run('park-consent', [token, id, position, JSON.stringify({ reason, at })])
      if (Number(parked) === 1) {
        log.warn({ productId: id }, 'a grant was not confirmed in time: it waits for a decision')
      }
    } finally {
      this.#settled(call)
    }
  }

  async #reject(token: string, refusals: readonly Refusal[], unnamed: '0' | '1') {
    const call = this.#calls.get(token)
    if (!call || refusals.length === 0) return 'rejected'
    const at = new Date(this.#options.clock.now()).toISOString()
    try {
      const args = rejectArguments({ token, last: '1', unnamed, refusals, at, noun: 'consents' })
      const answer = await this.#run('reject', args)
      return String(answer) === 'refuses-everything' ? 'refuses-everything' : 'rejected'
    } finally {
      this.#settled(call)
    }
  }

  /** After an answer that is an error only a state that is taken back matters: there must be one to take back. */
  async #noteFailure(call: ConsentCall, outcome: 'sent' | 'unknown'): Promise<void> {
    const { journal, waiting } = this.#options
    const { id, position, claimedAt, wasAcknowledged } = call
    if (outcome === 'sent' && !wasAcknowledged) return
    const event = outcome === 'unknown' ? 'unconfirmed' : 'failed'
    {
      using _ = waiting()
      await journal.append({ event, id, position, at: claimedAt })
    }
    await this.#follow()
  }

  async #giveBack(
    token: string,
    how: 'not-sent' | 'busy' | 'failed' | 'expired',
    id: ConsentId,
  ): Promise<number> {
    return Number(await this.#run('release-consent', [token, how, id, digestConsent(true)]))
  }

  #settled(call: ConsentCall, offset?: number): void {
    this.#calls.end(call, offset)
    this.#options.onSettled(call.token)
  }

  async #follow(): Promise<void> {
    const { catchUp } = this.#options
    await catchUp.follow()
    if (catchUp.told !== undefined) this.#calls.told(catchUp.told)
  }

  #run(
    name: Parameters<OutboxScripts['run']>[1],
    args: Parameters<OutboxScripts['run']>[2],
  ): Promise<unknown> {
    return this.#options.scripts.run(this.#options.connection, name, args)
  }
}
