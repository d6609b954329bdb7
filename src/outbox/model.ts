import type { ProductId } from '../lib/brand.ts'
import type { DocumentDigest } from '../mirror/model.ts'

export type ClaimMode = 'urgent' | 'any'

/** A product bound to one call. */
export interface ClaimedProduct {
  productId: ProductId
  document: Buffer
  digest: DocumentDigest
}

/** Products bound to a call under a lease. Ends with `acknowledge`, `release` or `reject` for each of its products. */
export interface Claim {
  token: string
  products: readonly ClaimedProduct[]
  /** Sum of the documents' bytes. */
  documentBytes: number
}

export type ClaimAnswer =
  | { kind: 'claimed'; claim: Claim }
  /** Nothing is due; `nextDueMs` is how long until something is (undefined: the outbox is empty). */
  | { kind: 'idle'; nextDueMs: number | undefined }
  /**
   * The call rate, a Retry-After or a back-off forbids a call for so long. `calls`, of the call rate only: how many were
   * made so far, by all processes.
   */
  | { kind: 'wait'; forMs: number; calls?: number }
  | { kind: 'paused'; reasons: PauseReason[] }

export type PauseReason = 'operator' | 'credentials' | 'refuses-everything'

/**
 * `not-sent`: nothing reached the endpoint. `sent`: a call failed; it may have taken effect all the same, but not any
 * more. `unknown`: it may also take effect later, so each product is sent once more by a call that begins after the
 * horizon.
 */
export type ReleaseOutcome = 'not-sent' | 'sent' | 'unknown'

export interface Refusal {
  productId: ProductId
  digest: DocumentDigest
  /** Shown to the operator: the endpoint's own words where it gave any. */
  reason: string
  status: number | undefined
  requestId: string | undefined
}

/** Whether a claim that needs more than one call may make a further one now. */
export type CallAdmission = Exclude<ClaimAnswer, { kind: 'claimed' | 'idle' }> | { kind: 'admitted' }

export interface DueAnswer {
  urgentDue: boolean
  /** Urgent included. */
  anyDue: boolean
  /** How long until something not due yet is; undefined: nothing waits. */
  nextDueMs: number | undefined
}

/** What delivery needs of the outbox. One implementation over Redis (`outbox.ts`). All methods are safe to repeat. */
export interface DeliveryOutbox {
  /** Binds due products, at most `bodyBytesMax`. Urgent first, then echoes, new, due deferred; no lane gets under a tenth. */
  claim(options: { mode: ClaimMode; bodyBytesMax: number }): Promise<ClaimAnswer>
  /**
   * A further call for products that are claimed already (halves, the rest after a refusal). Counts against the call
   * rate as `claim` does, and starts no more than `claim` would while the catalog is paused or held.
   */
  admitCall(): Promise<CallAdmission>
  /** Extends the lease; false when the claim has expired (its products may be in another call already). */
  renew(token: string): Promise<boolean>
  /** Documents that the endpoint took. Resets the back-off, and lets a learned limit of bytes grow again. */
  acknowledge(token: string, products: readonly ClaimedProduct[]): Promise<void>
  /** Back to their lanes. */
  release(token: string, ids: readonly ProductId[], outcome: ReleaseOutcome): Promise<void>
  /** To the dead letters. A product whose document changed since the claim goes back to its lane instead. */
  reject(token: string, refusals: readonly Refusal[]): Promise<void>
  /**
   * Like `reject`, for products refused without being named. When 20 in a row are refused so with none accepted
   * between, all of them are taken back and the catalog is paused: answers `refuses-everything`.
   */
  rejectUnnamed(token: string, refusals: readonly Refusal[]): Promise<'rejected' | 'refuses-everything'>
  /** No call of any process starts before so many ms have passed (Retry-After, back-off). Never shortens a wait. */
  holdCalls(forMs: number, reason: 'throttled' | 'failing'): Promise<void>
  /** Consecutive failed calls, counting this one; `acknowledge` resets it. */
  countFailure(description: string): Promise<number>
  pause(reason: PauseReason, hint: string): Promise<void>
  /**
   * `probed`: a probe showed that the credentials are taken; a 403 soon after refuses content. `tried`: it showed only
   * that something else is wrong now. `operator`: a learned limit of bytes is forgotten, too.
   */
  resume(reason: PauseReason, how: 'probed' | 'tried' | 'operator'): Promise<void>
  /** Empty: calls may be made. */
  pausedFor(): Promise<PauseReason[]>
  /** True for one caller at a time, for so long: who probes. */
  takeProbeTurn(forMs: number): Promise<boolean>
  /** True within a minute of `resume(…, 'probed')`. */
  recentlyProbed(): Promise<boolean>
  /** The endpoint refused a call of several products for its size: no more than so many bytes from now on. */
  learnBodyBytes(bytes: number): Promise<void>
  /** Expired leases: their products go back as unknown. Returns how many products. */
  expireClaims(): Promise<number>
  /** What could be claimed now, without claiming it: all false while paused or held. */
  lookDue(): Promise<DueAnswer>
  /** Adds one request to the counters that `status` and `load` show. `answered`: a response arrived, whatever it said. */
  countCall(call: { bodyBytes: number; products: number; answered: boolean }): Promise<void>
}
