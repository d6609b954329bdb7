import type { Lane } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { DocumentDigest } from '../mirror/model.ts'

/** Granted with a claim and with each renewal; delivery renews it every third of it. */
export const leaseMs = 15_000
export const probedForMs = 60_000
/** Long enough for a call to fill up while a file is imported, short enough for a new product to appear at once. */
export const newAfterMs = 1_000
export const drainAfterMs = 1_000
/** Between two probes of refused credentials. */
export const probeEveryMsMax = 30_000

/** The slot for urgent changes sends them in a small, quick call; others take those that it has not taken in a moment. */
export const urgentGraceMs = 100

export type ClaimMode = 'urgent' | 'any'

/** In which lanes something was put. */
export interface Offered {
  urgent: boolean
  others: boolean
}

/** In which lane a product waits and since when (epoch ms), for as many products of the call. */
export interface ProductPlace {
  lane: Lane
  sinceMs: number
  products: number
}

/** A product bound to one call. */
export interface ClaimedProduct {
  productId: ProductId
  document: Buffer
  digest: DocumentDigest
  /** Of some of a call, from the mirror; left out where Redis alone told of it. */
  place?: ProductPlace
}

/** Products bound to a call under a lease. Ends with `acknowledge`, `release` or `reject` for each of its products. */
export interface Claim {
  token: string
  products: readonly ClaimedProduct[]
  /** Sum of the documents' bytes. */
  documentBytes: number
  /** From which lanes the products were bound; `echoed`: sent once more, after an unknown outcome. */
  lanes: Readonly<Record<Lane | 'echoed', number>>
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
  /** Redis serves something else than this process does, or is being compared. Ask again after so long. */
  | { kind: 'shut'; forMs: number }
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
  /** Nothing is told, and no call may begin: see `shut` of `ClaimAnswer`. */
  isShut: boolean
  urgentDue: boolean
  /** Urgent included. */
  anyDue: boolean
  /** How long until something not due yet is; undefined: nothing waits. */
  nextDueMs: number | undefined
}
