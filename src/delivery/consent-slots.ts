import { randomUUID } from 'node:crypto'
import type { CallOutcome } from '../api/call-outcome.ts'
import { type CallKind, classify, type Verdict } from '../api/classify.ts'
import type { ConsentCalls } from '../api/consent-calls.ts'
import type { CallEnd, ConsentCall } from '../consents/row.ts'
import type { ConsentStore } from '../consents/store.ts'
import type { Clock } from '../lib/clock.ts'
import { OperatingError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { CallLog } from './call-log.ts'
import { ConsentPace } from './consent-pace.ts'
import type { DeliveryProgress } from './context.ts'
import { hideEmail } from './hide-email.ts'
import { PathRefusals } from './path-refusals.ts'
import { isGoodAnswer, showsCredentialsTaken } from './probe.ts'

/** Whatever wakes nobody is noticed after so long. */
const lookAgainMs = 1_000
/** How many are looked up together. */
const dueAtOnce = 64
/** Running calls may finish for so long after the stop. */
const finishWithinMs = 9_000
/**
 * So many refusals without a name, and no acceptance between, are taken for an endpoint that refuses everything.
 * Consents go out in the order of their file, where a run of bad addresses is ordinary.
 */
const refusedInARowMax = 100
const consentCalls: CallKind = {
  group: 'consent',
  tokenAdvice: 'Check the Email token of this catalog (`api.emailToken`)',
  addressAdvice: 'Check `api.url` and `consents.path` of this catalog',
}

export interface ConsentSlotsOptions {
  store: ConsentStore
  calls: Pick<ConsentCalls, 'set'>
  callLog: Pick<CallLog, 'begin' | 'end'>
  concurrency: number
  callsPerSecond: number
  horizonMs: number
  clock: Clock
  log: Log
  progress: DeliveryProgress
  onFatal: (error: unknown) => void
  /** 0 ≤ value < 1; default: Math.random. */
  random?: () => number
}

/**
 * Sends a catalog's consents, one a call, in so many slots; one of them is kept free of grants, so that a revocation
 * never waits for them.
 *
 * running → stopping (no call begins; running ones finish, or are given up after 9 s and are not confirmed) → stopped.
 * A slot: idle → (the attempt is durable) → calling → (the outcome is durable) → idle. It does not wait for the latter:
 * its next attempt shares that transaction.
 */
export class ConsentSlots implements AsyncDisposable {
  readonly #options: ConsentSlotsOptions
  readonly #pace: ConsentPace
  readonly #pathRefusals: PathRefusals
  /** Rows whose call is under way, or whose outcome is not durable yet, and which of them grant. */
  readonly #open = new Map<number, { isGrant: boolean }>()
  /** What was found due, by lane: nothing until something may be due again; undefined: there may be more. */
  #due: Partial<Record<0 | 1, number[] | undefined>> = {}
  readonly #settling = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #giveUp = new AbortController()
  readonly #running: Promise<unknown>
  #wake = new AbortController()
  #calling = 0
  #isDiskFailing = false

  constructor(options: ConsentSlotsOptions) {
    this.#options = options
    const { store, clock, callsPerSecond, concurrency, onFatal, random = Math.random } = options
    this.#pace = new ConsentPace({ store, clock, callsPerSecond, random })
    this.#pathRefusals = new PathRefusals(() => {
      this.#track(this.#durably(() => store.table.takeBack(clock.now())))
    })
    store.callState.inFlight = 0
    store.onDue = () => this.#wakeSlots()
    store.commits.isBusy = () => this.#calling > 0
    const slots = Array.from({ length: concurrency }, (_, slot) => this.#runSlot(slot))
    this.#running = Promise.all(slots).catch(onFatal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    const timer = setTimeout(() => this.#giveUp.abort(), finishWithinMs)
    await this.#running
    clearTimeout(timer)
    this.#giveUp.abort()
    await Promise.all(this.#settling)
  }

  async #runSlot(slot: number): Promise<void> {
    const { store, progress, clock } = this.#options
    while (!this.#stopping.signal.aborted) {
      const isTrial = slot === 0 && store.isCaughtUp && this.#pace.takeProbeTurn()
      const waitMs = !store.isCaughtUp || isTrial ? 0 : this.#pace.waitMs()
      const number = store.isCaughtUp && waitMs === 0 ? this.#firstDue() : undefined
      if (number === undefined) {
        progress.made()
        const signal = AbortSignal.any([this.#stopping.signal, this.#wake.signal])
        await clock.sleep(Math.min(lookAgainMs, Math.max(1, waitMs || lookAgainMs)), signal).catch(() => {})
        continue
      }
      this.#pace.take()
      progress.expected()
      await this.#send(number, { isTrial })
    }
  }

  /** Revocations first; undefined: nothing is due, or nothing for this slot. */
  #firstDue(): number | undefined {
    const { store, concurrency } = this.#options
    const grants = [...this.#open.values()].filter(({ isGrant }) => isGrant).length
    const lanes = grants < Math.max(1, concurrency - 1) ? ([0, 1] as const) : ([0] as const)
    for (const lane of lanes) {
      this.#due[lane] ??= store.table
        .firstOf(lane, dueAtOnce + this.#open.size)
        .filter((number) => !this.#open.has(number))
      const due = this.#due[lane]
      let number = due.shift()
      while (number !== undefined && this.#open.has(number)) number = due.shift()
      if (number === undefined) continue
      if (due.length === 0) this.#due[lane] = undefined
      this.#open.set(number, { isGrant: lane === 1 })
      return number
    }
    return undefined
  }

  async #send(number: number, { isTrial }: { isTrial: boolean }): Promise<void> {
    const { store, clock, horizonMs, log } = this.#options
    const begin = () => store.table.begin(number, { nowMs: clock.now(), horizonMs })
    const call = await this.#durably(begin)
    if (call === 'parked') {
      this.#pace.count('refused')
      log.warn('a grant was not confirmed in time: it waits for a decision')
    }
    if (call === undefined || call === 'parked') {
      this.#open.delete(number)
      return
    }
    const isWithheld = this.#stopping.signal.aborted || (this.#pace.isPaused && !isTrial)
    const end: CallEnd = isWithheld ? { kind: 'withheld' } : await this.#call(call, { isTrial })
    this.#track(this.#settle(call, end))
  }

  /** Not waited for by its slot, but by the stop. */
  #track(work: Promise<void>): void {
    const tracked = work.catch(this.#options.onFatal).finally(() => this.#settling.delete(tracked))
    this.#settling.add(tracked)
  }

  async #settle(call: ConsentCall, end: CallEnd): Promise<void> {
    const { store, clock, log } = this.#options
    const settled = await this.#durably(() => {
      const nowMs = clock.now()
      const isDue = store.table.end(call, end, nowMs)
      const refusesAll = end.kind === 'refused' && store.table.refusedInARow >= refusedInARowMax
      if (refusesAll) store.table.takeBack(nowMs)
      return { isDue, refusesAll }
    })
    this.#open.delete(call.number)
    if (settled?.refusesAll) {
      const hint = `the endpoint refused ${refusedInARowMax} consents in a row without naming any and took none; see its last answer, then resume`
      this.#pace.pause('refuses-everything', hint)
      log.error('the endpoint refuses everything: delivery is paused, nothing is dropped')
    }
    // It was passed over while it was open here.
    if (settled?.isDue) this.#wakeSlots()
  }

  /** One request: written down, sent, judged. What the answer says is kept without the address. */
  async #call(call: ConsentCall, { isTrial }: { isTrial: boolean }): Promise<CallEnd> {
    const { store, calls, callLog, clock, progress, log } = this.#options
    const name = callLog.begin({ token: randomUUID(), ids: [call.id], bytes: 0 })
    const beganAt = clock.monotonic()
    const waiting = progress.waiting()
    store.callState.inFlight = this.#calling += 1
    const given = await calls.set(call, { signal: this.#giveUp.signal })
    store.callState.inFlight = this.#calling -= 1
    waiting[Symbol.dispose]()
    progress.made()
    const outcome = hideEmail(given, call.email)
    const durationMs = Math.round(clock.monotonic() - beganAt)
    const verdict = this.#judge(call, outcome)
    const status = outcome.kind === 'response' ? outcome.status : null
    const requestId = outcome.kind === 'response' ? (outcome.headers['x-request-id'] ?? null) : null
    const shown = { ...(status === null ? {} : { status }), ...(requestId === null ? {} : { requestId }) }
    this.#track(
      name.then((begun) => callLog.end({ call: begun, outcome: verdict.kind, durationMs, ...shown })),
    )
    const fields = { consentId: call.id, ...shown, durationMs, verdict: verdict.kind }
    if (verdict.kind === 'acknowledge') log.debug(fields, 'call acknowledged')
    else log.warn(fields, verdict.description)
    this.#note(call, outcome, verdict)
    if (isTrial) this.#noteTrial(outcome)
    const at = new Date(clock.now()).toISOString()
    const refused = (reason: string, isNamed: boolean): CallEnd => {
      this.#pace.count('refused')
      return { kind: 'refused', letter: { reason, status, requestId, at }, isNamed }
    }
    switch (verdict.kind) {
      case 'acknowledge':
      case 'reject':
        return verdict.refused[0] ? refused(verdict.refused[0].reason, true) : { kind: 'taken' }
      case 'bisect':
        return refused(verdict.description, false)
      case 'split':
        return refused('too large for the endpoint', false)
      case 'unknown':
        return { kind: 'unknown' }
      default:
        return { kind: outcome.kind === 'not-sent' ? 'not-taken' : 'failed' }
    }
  }

  #judge({ id }: ConsentCall, outcome: CallOutcome): Verdict {
    const { clock } = this.#options
    return classify({
      outcome,
      productIds: [id],
      recentlyProbed: this.#pace.recentlyProbed,
      pathToBlame:
        outcome.kind === 'response' &&
        this.#pathRefusals.blames({ id, response: outcome, at: clock.monotonic() }),
      now: clock.now(),
      calls: consentCalls,
    })
  }

  /** What follows for other calls, at once: no slot repeats a mistake. */
  #note({ lane }: ConsentCall, outcome: CallOutcome, verdict: Verdict): void {
    const pace = this.#pace
    if (outcome.kind !== 'not-sent') {
      pace.count('calls')
      pace.count('products')
      pace.count('unanswered', outcome.kind === 'response' ? 0 : 1)
    }
    if (verdict.kind === 'acknowledge' && verdict.refused.length === 0) {
      pace.taken()
      pace.count(lane === 0 ? 'acknowledged:u' : 'acknowledged:n')
    } else if (verdict.kind === 'pause') {
      pace.pause('credentials', `${verdict.description}. ${verdict.hint}`)
    } else if (
      !this.#giveUp.signal.aborted &&
      (verdict.kind === 'retry' || verdict.kind === 'throttle' || verdict.kind === 'unknown')
    ) {
      const { description, afterMs, kind } = verdict
      pace.fail(description, { afterMs, isThrottle: kind === 'throttle' })
    }
  }

  /** No consent call is empty, so refused credentials are tried again with a consent that is due. */
  #noteTrial(outcome: CallOutcome): void {
    const { log } = this.#options
    if (!isGoodAnswer(outcome, 'consent')) {
      log.warn('the endpoint still refuses the credentials or cannot be reached')
      return
    }
    this.#pace.probed({ areTaken: showsCredentialsTaken(outcome) })
    log.info('the credentials are not refused any more: consents are sent again')
    this.#wakeSlots()
  }

  /** Tries again until the disk takes it, or the stop has given up on it: then the attempt, which is durable, stays. */
  async #durably<T>(change: () => T): Promise<T | undefined> {
    const { store, clock, log, progress } = this.#options
    using _ = progress.waiting()
    for (;;) {
      try {
        const done = await store.commits.commit(change)
        if (this.#isDiskFailing) log.info('consents go on: the disk takes them again')
        this.#isDiskFailing = false
        return done
      } catch (error) {
        if (!(error instanceof OperatingError)) throw error
        if (!this.#isDiskFailing)
          log.error({ err: error }, 'consents wait: what becomes of them cannot be written')
        this.#isDiskFailing = true
        if (this.#stopping.signal.aborted) return undefined
        await clock.sleep(lookAgainMs, this.#stopping.signal).catch(() => {})
      }
    }
  }

  #wakeSlots(): void {
    this.#due = {}
    this.#wake.abort()
    this.#wake = new AbortController()
  }
}
