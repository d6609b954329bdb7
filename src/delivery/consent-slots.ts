import type { CallOutcome } from '../api/call-outcome.ts'
import { type CallKind, classify, isAboutProducts, type Verdict, withTokenOf } from '../api/classify.ts'
import { consentRequest } from '../api/consent-client.ts'
import { Transport } from '../api/transport.ts'
import type { CatalogConfig } from '../config/model.ts'
import { type CallEnd, type ConsentLetter, type ConsentRow, firstLane, grantLane } from '../consents/row.ts'
import type { ConsentStore } from '../consents/store.ts'
import type { ConsentId } from '../lib/brand.ts'
import { type Clock, isoNow } from '../lib/clock.ts'
import { OperatingError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { readVersion } from '../lib/version.ts'
import { ConsentPace } from './consent-pace.ts'
import { describeResponse } from './deliver-call.ts'
import { PathRefusals } from './path-refusals.ts'
import { secretsOf } from './probe.ts'
import { finishWithinMs } from './waiting.ts'

/** Whatever wakes nobody is noticed after so long. */
const lookAgainMs = 1_000
/** What ends within so long shares a transaction while more is likely to end. */
const gatherMs = 2
/**
 * So many refusals without a name, and no acceptance between, are taken for an endpoint that refuses everything.
 * Consents go out in the order of their file, where a run of bad addresses is ordinary.
 */
const refusedInARowMax = 100
const refusesEverything = `the endpoint refused ${refusedInARowMax} consents in a row without naming any and took none; see its last answer, then resume`
const consentCalls: CallKind = {
  group: 'consent',
  tokenAdvice: 'Check the Email token of this catalog',
  addressAdvice: 'Check `api.url` and `consents.path` of this catalog',
}

interface ConsentSlotsOptions {
  store: ConsentStore
  catalog: Pick<CatalogConfig, 'api' | 'consents'>
  clock: Clock
  log: Log
  onFatal: (error: unknown) => void
}

/** As the row was when the call began. */
interface OpenCall extends ConsentRow {
  /** Sent to find out whether the credentials are taken again. */
  isTrial: boolean
}

/**
 * Sends a catalog's consents from the process that holds the state lock, one a call, in so many slots; one of them is kept
 * free of grants, so that a revocation never waits for them.
 *
 * running → stopping (no call begins; running ones finish, or are given up after 9 s and are not confirmed) → stopped.
 * Its one loop takes turns: a transaction writes what became of the calls that have ended, and marks those that begin;
 * then these are made. A turn that the disk refuses is repeated until the disk takes it, or the stop has given up on it:
 * then the attempts, which are durable, stay.
 */
export class ConsentSlots implements AsyncDisposable {
  readonly #options: ConsentSlotsOptions
  readonly #log: Log
  readonly #transport: Transport
  readonly #pace: ConsentPace
  /** Calls that are under way, or whose end is not durable yet. */
  readonly #open = new Map<ConsentId, OpenCall>()
  #ended: { call: OpenCall; end: CallEnd }[] = []
  /** What was refused since the last acceptance is due again. */
  #takesBack = false
  readonly #pathRefusals = new PathRefusals(() => (this.#takesBack = true))
  readonly #stopping = new AbortController()
  readonly #giveUp = new AbortController()
  readonly #running: Promise<void>
  #wake = new AbortController()
  #isDiskFailing = false

  constructor(options: ConsentSlotsOptions) {
    this.#options = options
    const { store, catalog, clock, onFatal } = options
    const { api, consents: config } = catalog
    this.#log = options.log.child({ kind: 'consents' })
    this.#transport = new Transport({
      url: () => api.url.value(),
      network: api.network,
      timeoutMs: config.timeoutMs,
      connections: config.concurrency,
      version: readVersion(),
    })
    this.#pace = new ConsentPace(store.callState, clock, {
      ...config,
      readToken: () => api.emailToken.value(),
    })
    store.onDue = () => this.#wake.abort()
    this.#running = this.#run().catch(onFatal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.#wake.abort()
    const timer = setTimeout(() => this.#giveUp.abort(), finishWithinMs)
    await this.#running
    clearTimeout(timer)
    this.#giveUp.abort()
    await this.#transport[Symbol.asyncDispose]()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted || this.#open.size > 0) {
      const restMs = this.#takeTurn()
      if (restMs === undefined && signal.aborted) return
      await this.#sleep(restMs ?? lookAgainMs)
      // What ends within a moment shares a transaction.
      if (this.#ended.length > 0 && this.#ended.length < this.#open.size) await this.#sleep(gatherMs)
    }
  }

  async #sleep(forMs: number): Promise<void> {
    this.#wake = new AbortController()
    await this.#options.clock.sleep(forMs, this.#wake.signal).catch(() => {})
  }

  /** Answers how long there is nothing to do, unless it is woken; undefined: the disk did not take it. */
  #takeTurn(): number | undefined {
    const { store, clock } = this.#options
    const log = this.#log
    try {
      const { begun, parked, refusesAll } = store.commit(() => this.#write(clock.now()))
      if (this.#isDiskFailing) log.info('consents go on: the disk takes them again')
      this.#isDiskFailing = false
      this.#takesBack = false
      for (const { call } of this.#ended) this.#open.delete(call.id)
      this.#ended = []
      if (refusesAll) {
        this.#pace.pause('refuses-everything', refusesEverything)
        log.error('the endpoint refuses everything: delivery is paused, nothing is dropped')
      }
      if (parked > 0) {
        this.#pace.count('refused', parked)
        log.warn({ grants: parked }, 'grants were not confirmed in time: they wait for a decision')
      }
      for (const call of begun) {
        this.#open.set(call.id, call)
        this.#call(call).catch(this.#options.onFatal)
      }
      return parked > 0 ? 0 : Math.min(lookAgainMs, Math.max(1, this.#pace.waitMs() || lookAgainMs))
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error
      if (!this.#isDiskFailing)
        log.error({ err: error }, 'consents wait: what becomes of them cannot be written')
      this.#isDiskFailing = true
      return undefined
    }
  }

  /** What a turn changes in the database. */
  #write(nowMs: number): { begun: OpenCall[]; parked: number; refusesAll: boolean } {
    const { store, catalog } = this.#options
    const { horizonMs } = catalog.consents
    if (this.#takesBack) store.takeBack(nowMs)
    const open = new Map(this.#open)
    for (const { call, end } of this.#ended) {
      store.end(call, end, nowMs)
      open.delete(call.id)
    }
    store.callState.inFlight = open.size
    const refusesAll = store.refusedInARow >= refusedInARowMax
    if (refusesAll) store.takeBack(nowMs)
    const turn = { begun: [] as OpenCall[], parked: 0, refusesAll }
    if (refusesAll || !store.isCaughtUp || this.#stopping.signal.aborted) return turn
    const isTrial = this.#pace.takeProbeTurn()
    for (const row of this.#findDue(open)) {
      if (isTrial ? turn.begun.length > 0 : this.#pace.waitMs() > 0) break
      if (store.begin(row, { nowMs, horizonMs })) {
        this.#pace.take()
        store.callState.inFlight += 1
        turn.begun.push({ ...row, isTrial })
      } else turn.parked += 1
    }
    return turn
  }

  /** As many as there are free slots for, revocations first. */
  #findDue(open: ReadonlyMap<ConsentId, OpenCall>): ConsentRow[] {
    const { store, catalog } = this.#options
    const { concurrency } = catalog.consents
    const find = (lane: 0 | 1, count: number) => {
      if (count <= 0) return []
      const rows = store.due(lane, count + open.size)
      return rows.filter(({ id }) => !open.has(id)).slice(0, count)
    }
    const free = concurrency - open.size
    const revocations = find(firstLane, free)
    const grants = [...open.values()].filter(({ lane }) => lane === grantLane).length
    const freeOfGrants = Math.max(1, concurrency - 1) - grants
    return [...revocations, ...find(grantLane, Math.min(free - revocations.length, freeOfGrants))]
  }

  /** One request: sent, judged. What the answer says is kept without the address. */
  async #call(call: OpenCall): Promise<void> {
    const { catalog, clock } = this.#options
    const beganAt = clock.monotonic()
    const consent = { email: call.email ?? '', consent: call.consent === 1 }
    const token = () => catalog.api.emailToken.value()
    const access = { path: catalog.consents.path, token }
    const secrets = [consent.email, ...secretsOf(token)]
    const request = { ...consentRequest(consent, access), signal: this.#giveUp.signal }
    const outcome = await this.#transport.send(request)
    const durationMs = Math.round(clock.monotonic() - beganAt)
    const verdict = this.#judge(call, outcome, secrets)
    const { status, requestId } = describeResponse(outcome, secrets)
    const fields = { consentId: call.id, status, requestId, durationMs, verdict: verdict.kind }
    if (verdict.kind === 'acknowledge') this.#log.debug(fields, 'call acknowledged')
    else this.#log.warn(fields, verdict.description)
    const answer = { status: status ?? null, requestId: requestId ?? null, at: isoNow(clock) }
    const end = endOf(outcome, verdict, answer)
    this.#note(call, outcome, verdict, end)
    this.#ended.push({ call, end })
    // The first begins to wait for the others, the last of them ends that.
    if (this.#ended.length === 1 || this.#ended.length === this.#open.size) this.#wake.abort()
  }

  #judge({ id }: ConsentRow, outcome: CallOutcome, secrets: readonly string[]): Verdict {
    const { catalog, clock } = this.#options
    const answered = outcome.kind === 'response' && { id, response: outcome, at: clock.monotonic() }
    const pathToBlame = answered && this.#pathRefusals.blames(answered)
    const { recentlyProbed } = this.#pace
    const calls = withTokenOf(consentCalls, catalog.api.emailToken)
    const now = clock.now()
    return classify({ outcome, productIds: [id], secrets, recentlyProbed, pathToBlame, now, calls })
  }

  /** What follows for other calls, at once: no slot repeats a mistake. */
  #note({ lane, isTrial }: OpenCall, outcome: CallOutcome, verdict: Verdict, end: CallEnd): void {
    const pace = this.#pace
    if (outcome.kind !== 'not-sent') {
      pace.count('calls')
      pace.count('products')
      pace.count('unanswered', outcome.kind === 'response' ? 0 : 1)
    }
    if (end.kind === 'refused') pace.count('refused')
    if (end.kind === 'taken') {
      this.#options.store.callState.failuresInARow = 0
      pace.count(lane === firstLane ? 'acknowledged:u' : 'acknowledged:n')
    } else if (verdict.kind === 'pause') pace.pause('credentials', `${verdict.description}. ${verdict.hint}`)
    else if (!isAboutProducts(verdict) && !this.#giveUp.signal.aborted) pace.fail(verdict)
    // No consent call is empty, so refused credentials are tried again with a consent that is due.
    if (isTrial && pace.endProbe(outcome)) {
      this.#log.info('the credentials are not refused any more: consents are sent again')
      this.#wake.abort()
    } else if (isTrial) this.#log.warn('the endpoint still refuses the credentials or cannot be reached')
  }
}

function endOf(outcome: CallOutcome, verdict: Verdict, answer: Omit<ConsentLetter, 'reason'>): CallEnd {
  if (!isAboutProducts(verdict)) {
    if (verdict.kind === 'unknown') return { kind: 'unknown' }
    return { kind: outcome.kind === 'not-sent' ? 'not-taken' : 'failed' }
  }
  const [named] = 'refused' in verdict ? verdict.refused : []
  if (verdict.kind === 'acknowledge' && !named) return { kind: 'taken' }
  const own = verdict.kind === 'bisect' ? verdict.description : 'too large for the endpoint'
  const letter = { reason: named?.reason ?? own, ...answer }
  return { kind: 'refused', letter, isNamed: named !== undefined }
}
