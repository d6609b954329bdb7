import { randomUUID } from 'node:crypto'
import type { DeliveryConfig } from '../config/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { NewProducts } from '../mirror/new-products.ts'
import { parseIdle, parseLanes, parseWithheld, texts } from './claim-answer.ts'
import {
  addPlaces,
  BlockReader,
  type ClaimedDocuments,
  type DocumentReader,
  fitDocuments,
  readOffered,
} from './fit-documents.ts'
import { GuardPass } from './guard-pass.ts'
import {
  type CallAdmission,
  type Claim,
  type ClaimAnswer,
  type ClaimedProduct,
  type ClaimMode,
  type DueAnswer,
  leaseMs,
  type Refusal,
  type ReleaseOutcome,
  urgentGraceMs,
} from './model.ts'
import { NewClaims, type NewOffer } from './new-claims.ts'
import { expireClaims, OpenClaims } from './open-claims.ts'
import { OutboxPace, type PaceOptions } from './pace.ts'
import { rejectArguments } from './refusals.ts'
import type { ScriptArgument, ScriptName } from './scripts/scripts.ts'

/** A script that binds more would block Redis for too long. */
const claimIdsMax = 12_000
/** Urgent changes of one file come within some milliseconds of each other. */
const urgentGatherMs = 20
/** After a loss, until it is repaired: how soon a call asks again. */
const shutAgainMs = 500
const startingAgainMs = 50
/** The thread of the mirror hands over new products. */
const takenAgainMs = 20

export interface RedisOutboxOptions extends PaceOptions {
  delivery: DeliveryConfig
  deferred: { afterMs: number; atMostMs: number }
  /** As the configuration names it (`endpointOf`): no call begins for keys of another one. */
  endpoint?: () => string
  /** Of the process that imports: only its own mirror's products are sent. Others serve whichever mirror Redis names. */
  mirrorId?: (() => string | undefined) | undefined
  /** Of the same process; `starting` until Redis was found to belong to it. Undefined: documents are read in Redis. */
  mirror?: (() => DocumentReader | 'starting' | undefined) | undefined
}

interface OpenOptions {
  bodyBytesMax: number
  reader: DocumentReader | undefined
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
export class RedisOutbox extends OutboxPace {
  readonly #options: RedisOutboxOptions
  readonly #open = new OpenClaims()
  /** Tells why no call may begin. */
  readonly pass: GuardPass
  readonly #blocks: BlockReader
  readonly #new: NewClaims

  constructor(options: RedisOutboxOptions) {
    super(options)
    this.#options = options
    const { connection, keys, endpoint = () => '', mirrorId } = options
    this.#blocks = new BlockReader(options.clock)
    this.#new = new NewClaims(this.#open, options.clock)
    this.pass = new GuardPass({ connection, keys, endpoint, mirrorId })
  }

  /** Binds due products, at most `bodyBytesMax`. Urgent first, then echoes, new, due deferred; no lane gets under a tenth. */
  async claim({ mode, bodyBytesMax }: { mode: ClaimMode; bodyBytesMax: number }): Promise<ClaimAnswer> {
    const token = randomUUID()
    const { delivery, deferred, mirror } = this.#options
    const reader = mirror?.()
    // Without it documents would be asked for that Redis need not hold.
    if (reader === 'starting') return { kind: 'shut', forMs: startingAgainMs }
    const fresh = mode === 'any' ? reader?.newProducts : undefined
    const isDue = fresh?.isDue && !fresh.isReady
    using offer = this.#new.offer(fresh, bodyBytesMax)
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
      offer?.session ?? '',
    ])
    const [first, ...rest] = answer as Buffer[]
    const kind = String(first)
    if (kind === 'claimed') {
      const [counts, ...claimed] = rest
      const [ids, digests] = [0, 1].map((from) => claimed.filter((_, at) => at % 2 === from))
      const bound = { ids: ids?.map(String) as ProductId[], digests: digests ?? [] }
      const claim = await this.#openClaim(token, bound, { bodyBytesMax, reader })
      return { kind, claim: { ...claim, lanes: parseLanes(String(counts)) } }
    }
    if (kind === 'new' && offer) return this.#openNew(token, offer, Number(rest[0]))
    if (kind === 'idle' && isDue) return { kind: 'wait', forMs: takenAgainMs }
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
    if (this.#new.settle(token, products)) {
      isLimited = Number(await this.#run('acknowledge', [token, '1', products.length])) === 1
    } else {
      await this.#new.bind(token)
      await this.#open.settle(token, products, async (part, last) => {
        const args = part.flatMap((each) => [each.productId, this.#open.digestsOf(token, each)])
        isLimited = Number(await this.#run('acknowledge', [token, last, 0, ...args])) === 1
      })
    }
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
    await this.#new.bind(token)
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

  /** It is not settled: its lease ends, and its products go back as unknown. */
  abandon(token: string): void {
    this.#new.bind(token).catch(() => undefined)
  }

  /** The endpoint refused a call of several products for its size: no more than so many bytes from now on. */
  async learnBodyBytes(bytes: number): Promise<void> {
    await this.#run('limit', ['refused', bytes, this.#options.delivery.callBytes])
  }

  /** This process makes calls: those of new products are prepared. To be repeated every second. */
  prepare(): void {
    this.#new.prepare(this.#newProducts, this.#options.delivery.callBytes)
  }

  /** This process makes no calls for now: new products that it has at hand are left to others. */
  rest(): void {
    this.#newProducts?.giveBack()
  }

  get #newProducts(): NewProducts | undefined {
    const reader = this.#options.mirror?.()
    return reader === 'starting' ? undefined : reader?.newProducts
  }

  /** What could be claimed now, without claiming it: all false while paused, held or shut. */
  async lookDue(): Promise<DueAnswer> {
    const { delivery } = this.#options
    const fresh = this.#newProducts
    const args = [delivery.callBytes, fresh?.isReady || fresh?.isDue ? fresh.session : '']
    const [urgent, all, next = -1] = (await this.#ask('look', args)) as number[]
    const due = { urgentDue: urgent === 1, anyDue: all === 1 }
    return { ...due, isShut: all === undefined, nextDueMs: next < 0 ? undefined : next }
  }

  /** Expired leases: their products go back as unknown. Returns how many products. */
  expireClaims(): Promise<number> {
    return expireClaims(this.#options, this.#open)
  }

  /** Reads the claimed documents. */
  async #openClaim(
    token: string,
    claimed: ClaimedDocuments,
    { bodyBytesMax, reader }: OpenOptions,
  ): Promise<Omit<Claim, 'lanes'>> {
    this.#open.add(token, claimed.ids)
    const found = reader
      ? await this.#blocks.read(reader, claimed)
      : await readOffered(this.connection, this.keys, claimed.ids)
    const fit = fitDocuments({ ...claimed, find: (id) => found.get(id), bodyBytesMax })
    if (reader) {
      this.#open.replace(token, fit.replaced)
      addPlaces(fit.products, reader)
    }
    return this.#keepFit(token, fit)
  }

  /** What no longer fits, as the document grew or the limit fell since, goes back at once. */
  async #keepFit(
    token: string,
    { products, documentBytes, missing, unfit }: ReturnType<typeof fitDocuments>,
  ): Promise<Omit<Claim, 'lanes'>> {
    if (missing.length > 0) await this.#release(token, missing, 'not-found')
    if (unfit.length > 0) await this.#release(token, unfit, 'not-sent')
    return { token, products, documentBytes }
  }

  /** The caller's own new products, of which Redis knows nothing. */
  async #openNew(token: string, offer: NewOffer, bodyBytesMax: number): Promise<ClaimAnswer> {
    const taken = this.#new.take(token, offer, bodyBytesMax)
    if (!taken) return { kind: 'shut', forMs: startingAgainMs }
    try {
      const ids = taken.map(({ productId }) => productId)
      this.#open.add(token, ids)
      const fit = fitDocuments({ ids, digests: [], find: (_, at) => taken[at], bodyBytesMax })
      const claim = await this.#keepFit(token, fit)
      const lanes = { urgent: 0, new: claim.products.length, deferred: 0, echoed: 0 }
      return { kind: 'claimed', claim: { ...claim, lanes } }
    } catch (error) {
      this.abandon(token)
      throw error
    }
  }

  async #reject(token: string, refusals: readonly Refusal[], unnamed: '0' | '1') {
    await this.#new.bind(token)
    let result: 'rejected' | 'refuses-everything' = 'rejected'
    const at = this.now()
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
    return this.scripts.run(this.connection, name, args)
  }
}
