import { randomUUID } from 'node:crypto'
import type { DeliveryConfig } from '../config/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { digestDocument } from '../mirror/digest.ts'
import { type RedisConnection, readRedisTime } from '../redis/connection.ts'
import { parseIdle, parseWithheld } from './claim-answer.ts'
import { limitFields } from './follow-calls.ts'
import { GuardPass } from './guard-pass.ts'
import type { CatalogKeys } from './keys.ts'
import type {
  CallAdmission,
  Claim,
  ClaimAnswer,
  ClaimedProduct,
  ClaimMode,
  DeliveryOutbox,
  DueAnswer,
  PauseReason,
  Refusal,
  ReleaseOutcome,
} from './model.ts'
import { OpenClaims, partsOf, readClaimedBy } from './open-claims.ts'
import { rejectArguments } from './refusals.ts'
import type { OutboxScripts, ScriptArgument, ScriptName } from './scripts/scripts.ts'

/** Granted with a claim and with each renewal; delivery renews it every third of it. */
export const leaseMs = 15_000
/** A script that binds more would block Redis for too long. */
const claimIdsMax = 12_000
const urgentGraceMs = 100
/** Urgent changes of one file come within some milliseconds of each other. */
const urgentGatherMs = 20
const probedForMs = 60_000
/** After a loss, until it is repaired: how soon a call asks again. */
const shutAgainMs = 500
/** Long enough for a call to fill up while a file is imported, short enough for a new product to appear at once. */
export const newAfterMs = 1_000
/** Between two probes of refused credentials. */
export const probeEveryMsMax = 30_000

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
  clock: Clock
}

/**
 * The outbox of one catalog over Redis: which products' newest documents are not acknowledged, and who is sending them.
 *
 * A product waits in one lane → is claimed by one call under a lease → is acknowledged, goes back to its lane (not sent,
 * unknown, lease ended), or becomes a dead letter. All transitions are scripts over ids that use Redis time, so any
 * number of processes may deliver; documents are read with plain commands and never pass through Lua. No call begins or
 * goes on unless the guard names this endpoint, these scripts and the run of Redis that this connection talks to.
 */
export class RedisOutbox implements DeliveryOutbox {
  readonly #connection: RedisConnection
  readonly #keys: CatalogKeys
  readonly #scripts: OutboxScripts
  readonly #options: RedisOutboxOptions
  readonly #open = new OpenClaims()
  readonly #pass: GuardPass

  constructor(options: RedisOutboxOptions) {
    this.#connection = options.connection
    this.#keys = options.keys
    this.#scripts = options.scripts
    this.#options = options
    const { connection, keys, endpoint = () => '', mirrorId } = options
    this.#pass = new GuardPass({ connection, keys, endpoint, mirrorId })
  }

  async claim({ mode, bodyBytesMax }: { mode: ClaimMode; bodyBytesMax: number }): Promise<ClaimAnswer> {
    const token = randomUUID()
    const { delivery, deferred } = this.#options
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
    ])
    const [kind = '', ...rest] = texts(answer)
    if (kind === 'shut') return { kind: 'wait', forMs: shutAgainMs }
    const withheld = kind === 'idle' ? parseIdle(rest) : parseWithheld(kind, rest)
    if (withheld) return withheld
    return { kind: 'claimed', claim: await this.#openClaim(token, rest as ProductId[], bodyBytesMax) }
  }

  async admitCall(): Promise<CallAdmission> {
    const [kind = '', ...rest] = texts(await this.#ask('admit', [this.#options.delivery.callsPerSecond]))
    if (kind === 'shut') return { kind: 'wait', forMs: shutAgainMs }
    return parseWithheld(kind, rest) ?? { kind: 'admitted' }
  }

  async renew(token: string): Promise<boolean> {
    return Number(await this.#run('renew', [await this.#pass.read(), token, leaseMs])) === 1
  }

  async acknowledge(token: string, products: readonly ClaimedProduct[]): Promise<void> {
    let isLimited = false
    await this.#open.settle(token, products, async (part, last) => {
      const args = part.flatMap((each) => [each.productId, each.digest])
      isLimited = Number(await this.#run('acknowledge', [token, last, ...args])) === 1
    })
    if (!isLimited) return
    // With brackets and commas.
    const bodyBytes = products.reduce((sum, { document }) => sum + document.length + 1, 1)
    await this.#limit('taken', bodyBytes)
  }

  async release(token: string, ids: readonly ProductId[], outcome: ReleaseOutcome): Promise<void> {
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

  async reject(token: string, refusals: readonly Refusal[]): Promise<void> {
    await this.#reject(token, refusals, '0')
  }

  async rejectUnnamed(
    token: string,
    refusals: readonly Refusal[],
  ): Promise<'rejected' | 'refuses-everything'> {
    return this.#reject(token, refusals, '1')
  }

  async holdCalls(forMs: number, reason: 'throttled' | 'failing'): Promise<void> {
    await this.#run('hold', [Math.ceil(forMs), reason])
  }

  async countFailure(description: string): Promise<number> {
    const failures = await this.#write('pace', ['HINCRBY', 'failures', 1])
    const lastFailure = JSON.stringify({ at: this.#now(), text: description })
    await this.#write('pace', ['HSET', 'lastFailure', lastFailure])
    return Number(failures)
  }

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

  async resume(reason: PauseReason, how: 'probed' | 'tried' | 'operator'): Promise<void> {
    if (how === 'probed') await this.#write('probed', ['SET', '1', 'PX', probedForMs])
    if (how === 'operator') await this.#connection.hdel(this.#keys.pace, ...limitFields)
    await this.#connection.hdel(this.#keys.pause, reason)
  }

  async pausedFor(): Promise<PauseReason[]> {
    return (await this.#connection.hkeys(this.#keys.pause)) as PauseReason[]
  }

  async takeProbeTurn(forMs: number): Promise<boolean> {
    return String(await this.#write('probeTurn', ['SET', '1', 'PX', forMs, 'NX'])) === 'OK'
  }

  async recentlyProbed(): Promise<boolean> {
    return (await this.#connection.exists(this.#keys.probed)) === 1
  }

  async learnBodyBytes(bytes: number): Promise<void> {
    await this.#limit('refused', bytes)
  }

  async lookDue(): Promise<DueAnswer> {
    // Nothing, where the guard is shut.
    const [urgentDue, anyDue, next = -1] = (await this.#ask('look', [])) as number[]
    return { urgentDue: urgentDue === 1, anyDue: anyDue === 1, nextDueMs: next < 0 ? undefined : next }
  }

  async expireClaims(): Promise<number> {
    await this.#correctTimes()
    const expired = await this.#connection.zrangebyscore(
      this.#keys.leases,
      '-inf',
      await readRedisTime(this.#connection),
    )
    let count = 0
    for (const token of expired) count += await this.#expire(token)
    return count
  }

  /** After the clock of Redis was set back nothing waits for the time by which it was ahead. */
  async #correctTimes(): Promise<void> {
    const { timeoutMs, horizonMs } = this.#options.delivery
    const echoMs = leaseMs + timeoutMs + horizonMs
    const aheadMsMax = [0, newAfterMs, 0, echoMs, echoMs, leaseMs, probedForMs, probeEveryMsMax]
    while (Number(await this.#run('correct-times', aheadMsMax)) === 1);
  }

  /** Reads the claimed documents; one that no longer fits because it grew since the claim goes back at once. */
  async #openClaim(token: string, ids: readonly ProductId[], bodyBytesMax: number): Promise<Claim> {
    const products: ClaimedProduct[] = []
    const unfit: ProductId[] = []
    let bodyBytes = 1
    const documents = await this.#connection.hmgetBuffer(this.#keys.documents, ...ids)
    this.#open.add(token, ids)
    ids.forEach((productId, index) => {
      const document = documents[index]
      const fits = document && bodyBytes + document.length + 1 <= bodyBytesMax
      if (document && (fits || ids.length === 1)) {
        products.push({ productId, document, digest: digestDocument(document) })
        bodyBytes += document.length + 1
      } else {
        unfit.push(productId)
      }
    })
    if (unfit.length > 0) await this.release(token, unfit, 'not-sent')
    return { token, products, documentBytes: products.reduce((sum, each) => sum + each.document.length, 0) }
  }

  async #reject(token: string, refusals: readonly Refusal[], unnamed: '0' | '1') {
    let result: 'rejected' | 'refuses-everything' = 'rejected'
    const at = this.#now()
    await this.#open.settle(token, refusals, async (part, last) => {
      const args = rejectArguments({ token, last, unnamed, refusals: part, at })
      const answer = await this.#run('reject', args)
      if (String(answer) === 'refuses-everything') result = 'refuses-everything'
    })
    return result
  }

  /** A call's process died or slept: whether its request took effect is unknown. */
  async #expire(token: string): Promise<number> {
    const ids = await readClaimedBy(this.#connection, this.#keys, token)
    const { timeoutMs, horizonMs } = this.#options.delivery
    // A process that sleeps may have begun its call at the end of its lease.
    const echoForMs = horizonMs + Math.max(0, timeoutMs - leaseMs)
    const parts = ids.length === 0 ? [[]] : partsOf(ids)
    let count = 0
    for (const [index, part] of parts.entries()) {
      const last = index === parts.length - 1 ? '1' : '0'
      count += Number(await this.#run('release', [token, last, 'expired', echoForMs, ...part]))
    }
    this.#open.forget(token)
    return count
  }

  async #limit(how: 'refused' | 'taken', bytes: number): Promise<void> {
    await this.#run('limit', [how, bytes, this.#options.delivery.callBytes])
  }

  /** A call is asked for, or whether there is one to make. Where the guard names another generation than it did, that one is served from now on. */
  async #ask(name: 'claim' | 'admit' | 'look', args: readonly ScriptArgument[]): Promise<unknown> {
    const answer = await this.#run(name, [await this.#pass.read(), ...args])
    if (texts(answer)[0] !== 'shut' || !(await this.#pass.renew())) return answer
    return this.#run(name, [await this.#pass.read(), ...args])
  }

  #run(name: ScriptName, args: readonly ScriptArgument[]): Promise<unknown> {
    return this.#scripts.run(this.#connection, name, args)
  }

  #write(
    key: Parameters<OutboxScripts['write']>[1],
    command: Parameters<OutboxScripts['write']>[2],
  ): Promise<unknown> {
    return this.#scripts.write(this.#connection, key, command)
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString()
  }
}

function texts(answer: unknown): string[] {
  return (answer as unknown[]).map(String)
}
