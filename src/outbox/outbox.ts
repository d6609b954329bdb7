import { randomUUID } from 'node:crypto'
import type { DeliveryConfig } from '../config/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { parseIdle, parseLanes, parseWithheld, texts } from './claim-answer.ts'
import { addPlaces, BlockReader, type DocumentReader, fitDocuments, readOffered } from './fit-documents.ts'
import { limitFields } from './follow-calls.ts'
import { GuardPass } from './guard-pass.ts'
import type { CatalogKeys } from './keys.ts'
import {
  type CallAdmission,
  type Claim,
  type ClaimAnswer,
  type ClaimedProduct,
  type ClaimMode,
  type DueAnswer,
  leaseMs,
  type PauseReason,
  probedForMs,
  type Refusal,
  type ReleaseOutcome,
  urgentGraceMs,
} from './model.ts'
import { expireClaims, OpenClaims } from './open-claims.ts'
import { rejectArguments } from './refusals.ts'
import type { OutboxScripts, ScriptArgument, ScriptName, SmallWrite } from './scripts/scripts.ts'

/** A script that binds more would block Redis for too long. */
const claimIdsMax = 12_000
/** Urgent changes of one file come within some milliseconds of each other. */
const urgentGatherMs = 20
/** After a loss, until it is repaired: how soon a call asks again. */
const shutAgainMs = 500
const startingAgainMs = 50

export interface RedisOutboxOptions {
  connection: RedisConnection
  keys: CatalogKeys
  scripts: OutboxScripts
  delivery: DeliveryConfig
  deferred: { afterMs: number; atMostMs: number }
  /** As the configuration names it (`endpointOf`): no call begins for keys of another one. */
  endpoint?: () => string
  /** Of the process that imports: only its own mirror's products are sent. Others serve whichever mirror Redis names. */
  mirrorId?: (() => string | undefined) | undefined
  /** Of the same process; `starting` until Redis was found to belong to it. Undefined: documents are read in Redis. */
  mirror?: (() => DocumentReader | 'starting' | undefined) | undefined
  clock: Clock
}

/**
 * The outbox of one catalog over Redis: which products' newest documents are not acknowledged, and who is sending them.
 *
 * A product waits in one lane → is claimed by one call under a lease → is acknowledged, goes back to its lane (not sent,
 * unknown, lease ended), or becomes a dead letter. All transitions are scripts over ids that use Redis time, so any
 * number of processes may deliver; documents never pass through Lua: who has the mirror takes them from memory or reads the
 * newest there, others read with plain commands what was offered. No call begins or goes on unless the guard names this
 * endpoint, these scripts and the run of Redis that this connection talks to. All methods are safe to repeat.
 */
export class RedisOutbox {
  readonly #connection: RedisConnection
  readonly #keys: CatalogKeys
  readonly #scripts: OutboxScripts
  readonly #options: RedisOutboxOptions
  readonly #open = new OpenClaims()
  /** Tells why no call may begin. */
  readonly pass: GuardPass
  readonly #blocks: BlockReader

  constructor(options: RedisOutboxOptions) {
    this.#connection = options.connection
    this.#keys = options.keys
    this.#scripts = options.scripts
    this.#options = options
    const { connection, keys, endpoint = () => '', mirrorId } = options
    this.#blocks = new BlockReader(options.clock)
    this.pass = new GuardPass({ connection, keys, endpoint, mirrorId })
  }

  /** Binds due products, at most `bodyBytesMax`. Urgent first, then echoes, new, due deferred; no lane gets under a tenth. */
  async claim({ mode, bodyBytesMax }: { mode: ClaimMode; bodyBytesMax: number }): Promise<ClaimAnswer> {
    const token = randomUUID()
    const { delivery, deferred, mirror } = this.#options
    const reader = mirror?.()
    // Without it documents would be asked for that Redis need not hold.
    if (reader === 'starting') return { kind: 'shut', forMs: startingAgainMs }
    const answer = await this.#ask('claim', [
      token,
      leaseMs,
      bodyBytesMax,
      mode,
      claimIdsMax,
      delivery.callsPerSecond,
      deferred.atMostMs,
      // With one slot there is none that serves urgent changes alone.
      delivery.concurrency > 1 ? urgentGraceMs : 0,
      urgentGatherMs,
      reader ? 0 : 1,
    ])
    const [first, ...rest] = answer as Buffer[]
    const kind = String(first)
    if (kind === 'claimed') {
      const [counts, ...claimed] = rest
      const claim = await this.#openClaim(token, claimed, { bodyBytesMax, reader })
      return { kind, claim: { ...claim, lanes: parseLanes(String(counts)) } }
    }
    if (kind === 'idle') return parseIdle(rest)
    return parseWithheld(kind, rest) ?? { kind: 'shut', forMs: shutAgainMs }
  }

  /**
   * A further call for products that are claimed already (halves, the rest after a refusal). Counts against the call
   * rate as `claim` does, and starts no more than `claim` would while the catalog is paused or held.
   */
  async admitCall(): Promise<CallAdmission> {
    const [kind = '', ...rest] = texts(await this.#ask('admit', [this.#options.delivery.callsPerSecond]))
    if (kind === 'shut') return { kind, forMs: shutAgainMs }
    return parseWithheld(kind, rest) ?? { kind: 'admitted' }
  }

  /** Extends the lease; false when the claim has expired (its products may be in another call already). */
  async renew(token: string): Promise<boolean> {
    return Number(await this.#run('renew', [await this.pass.read(), token, leaseMs])) === 1
  }

  /** Documents that the endpoint took. Resets the back-off, and lets a learned limit of bytes grow again. */
  async acknowledge(token: string, products: readonly ClaimedProduct[]): Promise<void> {
    let isLimited = false
    await this.#open.settle(token, products, async (part, last) => {
      const args = part.flatMap((each) => [each.productId, this.#open.digestsOf(token, each)])
      isLimited = Number(await this.#run('acknowledge', [token, last, ...args])) === 1
    })
    if (!isLimited) return
    // With brackets and commas.
    const bodyBytes = products.reduce((sum, { document }) => sum + document.length + 1, 1)
    await this.#run('limit', ['taken', bodyBytes, this.#options.delivery.callBytes])
  }

  /** Back to their lanes. */
  release(token: string, ids: readonly ProductId[], outcome: ReleaseOutcome): Promise<void> {
    return this.#release(token, ids, outcome)
  }

  async #release(token: string, ids: readonly ProductId[], outcome: ReleaseOutcome | 'not-found') {
    const products = ids.map((productId) => ({ productId }))
    await this.#open.settle(token, products, (part, last) =>
      this.#run('release', [
        token,
        last,
        outcome,
        this.#options.delivery.horizonMs,
        ...part.map((each) => each.productId),
      ]),
    )
  }

  /** To the dead letters. A product whose document changed since the claim goes back to its lane instead. */
  async reject(token: string, refusals: readonly Refusal[]): Promise<void> {
    await this.#reject(token, refusals, '0')
  }

  /**
   * Like `reject`, for products refused without being named. When 20 in a row are refused so with none accepted
   * between, all of them are taken back and the catalog is paused: answers `refuses-everything`.
   */
  async rejectUnnamed(
    token: string,
    refusals: readonly Refusal[],
  ): Promise<'rejected' | 'refuses-everything'> {
    return this.#reject(token, refusals, '1')
  }

  /** No call of any process starts before so many ms have passed (Retry-After, back-off). Never shortens a wait. */
  async holdCalls(forMs: number, reason: 'throttled' | 'failing'): Promise<void> {
    await this.#run('hold', [Math.ceil(forMs), reason])
  }

  /** Consecutive failed calls, counting this one; `acknowledge` resets it. */
  async countFailure(description: string): Promise<number> {
    const failures = await this.#write('pace', ['HINCRBY', 'failures', 1])
    const lastFailure = JSON.stringify({ at: this.#now(), text: description })
    await this.#write('pace', ['HSET', 'lastFailure', lastFailure])
    return Number(failures)
  }

  /** Adds one request to the counters that `status` and `load` show. `answered`: a response arrived, whatever it said. */
  async countCall(call: { bodyBytes: number; products: number; answered: boolean }): Promise<void> {
    await this.#connection
      .pipeline()
      .hincrby(this.#keys.counters, 'calls', 1)
      .hincrby(this.#keys.counters, 'bytes', call.bodyBytes)
      .hincrby(this.#keys.counters, 'products', call.products)
      .hincrby(this.#keys.counters, 'unanswered', call.answered ? 0 : 1)
      .exec()
  }

  async pause(reason: PauseReason, hint: string): Promise<void> {
    await this.#write('pause', ['HSETNX', reason, JSON.stringify({ since: this.#now(), hint })])
  }

  /**
   * `probed`: a probe showed that the credentials are taken; a 403 soon after refuses content. `tried`: it showed only
   * that something else is wrong now. `operator`: a learned limit of bytes is forgotten, too. `by`: the process.
   */
  async resume(reason: PauseReason, how: 'probed' | 'tried' | 'operator', by = ''): Promise<void> {
    if (how === 'probed') await this.#write('probed', ['SET', by, 'PX', probedForMs])
    if (how === 'operator') await this.#connection.hdel(this.#keys.pace, ...limitFields)
    await this.#connection.hdel(this.#keys.pause, reason)
  }

  /** Empty: calls may be made. */
  async pausedFor(): Promise<PauseReason[]> {
    return (await this.#connection.hkeys(this.#keys.pause)) as PauseReason[]
  }

  /** True for one caller at a time, for so long: who probes. `at-once`: whoever had the turn; nobody else gets it for so long. */
  async takeProbeTurn(forMs: number, how: 'in-turn' | 'at-once' = 'in-turn'): Promise<boolean> {
    const taken = ['SET', '1', 'PX', forMs, ...(how === 'in-turn' ? ['NX'] : [])] as const
    return String(await this.#write('probeTurn', taken)) === 'OK'
  }

  /** A probe did not resume. `hint`: what its answer says of the credentials, and what to do, in place of what was said before. */
  async noteProbe(hint: string | undefined): Promise<void> {
    await this.#write('pace', ['HSET', 'tried', JSON.stringify({ at: this.#now(), hint })])
  }

  /** Within a minute of `resume(…, 'probed')`: by which process. */
  async recentlyProbedBy(): Promise<string | undefined> {
    return (await this.#connection.get(this.#keys.probed)) ?? undefined
  }

  /** The endpoint refused a call of several products for its size: no more than so many bytes from now on. */
  async learnBodyBytes(bytes: number): Promise<void> {
    await this.#run('limit', ['refused', bytes, this.#options.delivery.callBytes])
  }

  /** What could be claimed now, without claiming it: all false while paused, held or shut. */
  async lookDue(): Promise<DueAnswer> {
    const [urgent, all, next = -1] = (await this.#ask('look', [this.#options.delivery.callBytes])) as number[]
    const due = { urgentDue: urgent === 1, anyDue: all === 1 }
    return { ...due, isShut: all === undefined, nextDueMs: next < 0 ? undefined : next }
  }

  /** Expired leases: their products go back as unknown. Returns how many products. */
  expireClaims(): Promise<number> {
    return expireClaims(this.#options, this.#open)
  }

  /** Reads the claimed documents; one that no longer fits because it grew since the claim goes back at once. */
  async #openClaim(
    token: string,
    claimed: readonly Buffer[],
    { bodyBytesMax, reader }: { bodyBytesMax: number; reader: DocumentReader | undefined },
  ): Promise<Omit<Claim, 'lanes'>> {
    const ids = claimed.filter((_, at) => at % 2 === 0).map(String) as ProductId[]
    this.#open.add(token, ids)
    const found = reader
      ? await this.#blocks.read(reader, ids, claimed)
      : await readOffered(this.#connection, this.#keys, ids)
    const { products, documentBytes, ...others } = fitDocuments({ ids, claimed, found, bodyBytesMax })
    if (reader) {
      this.#open.replace(token, others.replaced)
      addPlaces(products, reader)
    }
    if (others.missing.length > 0) await this.#release(token, others.missing, 'not-found')
    if (others.unfit.length > 0) await this.#release(token, others.unfit, 'not-sent')
    return { token, products, documentBytes }
  }

  async #reject(token: string, refusals: readonly Refusal[], unnamed: '0' | '1') {
    let result: 'rejected' | 'refuses-everything' = 'rejected'
    const at = this.#now()
    await this.#open.settle(token, refusals, async (part, last) => {
      const args = rejectArguments({ open: this.#open, token, last, unnamed, refusals: part, at })
      const answer = await this.#run('reject', args)
      if (String(answer) === 'refuses-everything') result = 'refuses-everything'
    })
    return result
  }

  /** A call is asked for, or whether there is one to make. Where the guard names another generation than it did, that one is served from now on. */
  async #ask(name: 'claim' | 'admit' | 'look', args: readonly ScriptArgument[]): Promise<unknown> {
    const answer = await this.#run(name, [await this.pass.read(), ...args])
    if (texts(answer)[0] !== 'shut' || !(await this.pass.renew())) return answer
    return this.#run(name, [await this.pass.read(), ...args])
  }

  #run(name: ScriptName, args: readonly ScriptArgument[]): Promise<unknown> {
    return this.#scripts.run(this.#connection, name, args)
  }

  #write(...write: SmallWrite): Promise<unknown> {
    return this.#scripts.write(this.#connection, ...write)
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString()
  }
}
