import type { Lane } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { CallsDecision, DeadLetter, DocumentDigest } from './model.ts'

/**
 * What the pump offers of one product.
 *
 * `change`: the endpoint does not hold this document yet. `doubt`: it may hold anything, this document is sent whatever
 * else is known. `undone`: it holds this document unless something of the product is under way; then it is sent, else
 * the offer answers "dropped". `withdrawn`: the product has no document any more; what is not under way is dropped.
 */
export type Place = {
  productId: ProductId
  lane: Lane
  number: number
  /** Of the first unsent edit, epoch ms. */
  since: number
} & (
  | { kind: 'change' | 'doubt' | 'undone'; document: Buffer; digest: DocumentDigest }
  | { kind: 'withdrawn'; document: undefined; digest: undefined }
)

/** What Redis tells of products; one durable transaction. Safe to repeat. */
export interface Drained {
  /**
   * `digest` undefined: a doubt, a call may have taken effect. `echoLeft`: Redis still holds an echo of the product, which
   * keeps its place therefore.
   */
  acknowledged?: readonly {
    productId: ProductId
    digest: DocumentDigest | undefined
    echoLeft?: boolean
  }[]
  dead?: readonly { letter: DeadLetter; digest: DocumentDigest; echoLeft?: boolean }[]
  /** Places that the offer answered with "dropped". Where the product has another number by now nothing happens. */
  dropped?: readonly Pick<Place, 'productId' | 'lane' | 'number'>[]
}

/** What the mirror knows of itself, and of the Redis and the endpoint it belongs to. Undefined: not known yet. */
export interface MirrorIdentity {
  /** Random; given when the mirror is made. */
  mirrorId: string
  /** Raised whenever everything is started over; begins with 1. */
  generation: number
  /** Normalised URL, with the account where the configuration names one. */
  endpoint: string | undefined
  beat: number
  runId: string | undefined
  /** A loss was noticed and is not repaired yet: whatever the repair needs to go on after a restart. */
  repairing: string | undefined
  /** Of the newest loss that was noticed, epoch ms. */
  lastLossMs: number | undefined
  /** How far each lane was offered, as far as it was remembered. */
  positions: Readonly<Record<Lane, number>>
}

/**
 * The part of the mirror that the loop works on (compare, drain, pump, beat). Synchronous; a method that changes something
 * is durable when it returns. Times are ms since the epoch.
 */
export interface OutboxMirror {
  readIdentity(): MirrorIdentity
  /** Changes what is named; a value of undefined is forgotten. */
  remember(change: Partial<Omit<MirrorIdentity, 'mirrorId' | 'generation'>>): void
  /** The last number that was given in each lane. */
  lastNumbers(): Readonly<Record<Lane, number>>
  /** Deferred places that are due get the next numbers of their lane. Returns how many. */
  numberDue(options: { nowMs: number; deferredAfterMs: number; rowsMax: number }): number
  /** Since when the oldest deferred place without a number is unsent; undefined: there is none. */
  oldestDeferred(): number | undefined
  /** Ordered by number; at least one where there is one. What was read takes a new number when it is edited. */
  readPlaces(options: { lane: Lane; after: number; bytesMax: number; rowsMax: number }): Place[]
  /** Documents for echoes; ids without one are absent. */
  readDocuments(ids: readonly ProductId[]): Map<ProductId, { document: Buffer; digest: DocumentDigest }>
  drain(drained: Drained, nowMs: number): void
  /** These products are doubtful and get a fresh number: urgent where they have no place. Ids not known are ignored. */
  doubt(ids: readonly ProductId[], nowMs: number): void
  /** The same for at most `rowsMax` numbered places up to these numbers. Returns how many; 0: none is left. */
  doubtPlaces(options: { upTo: Readonly<Record<Lane, number>>; nowMs: number; rowsMax: number }): number
  /** Raises the generation; from now on `startOver` has to go on, after a restart, too. */
  beginStartOver(change: { endpoint?: string }): void
  isStartingOver(): boolean
  /** Gives the next `rowsMax` products a place (lane `new`); no acknowledgement is believed. Returns whether any is left. */
  startOver(options: { nowMs: number; rowsMax: number }): boolean
  /** The operator's last decision about all calls. */
  calls(): CallsDecision | undefined
}
