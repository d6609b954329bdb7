import type { Lane } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { JoinedBytes } from '../lib/joined-bytes.ts'
import type { DeadLetter, DocumentDigest } from './model.ts'

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
  /** Of the document. */
  bytes: number
  /** Undefined also where documents were not asked for. */
  document: Buffer | undefined
} & (
  | { kind: 'change' | 'doubt' | 'undone'; digest: DocumentDigest }
  | { kind: 'withdrawn'; digest: undefined }
)

interface DrainedProduct {
  productId: ProductId
  /** Of the product in the mirror, where it is known: quicker to find than the id. */
  key?: number | undefined
  held: boolean
}

/**
 * What Redis tells of products. `held`: something of the product is under way there (a lane, a claim, an echo …), so that it
 * needs a place.
 */
export interface Drained {
  /** `digest` undefined: a doubt, a call may have taken effect. */
  acknowledged?: readonly (DrainedProduct & { digest: DocumentDigest | undefined })[]
  dead?: readonly { letter: DeadLetter; digest: DocumentDigest; held: boolean }[]
  /** Places that an offer dropped: nothing of the product was under way then. */
  dropped?: readonly DrainedProduct[]
  /** How far each lane was offered, read in the same step. */
  positions: Readonly<Record<Lane, number>>
}

/** What the mirror knows of itself, and of the Redis and the endpoint it belongs to. Undefined: not known yet. */
export interface MirrorIdentity {
  /** Random; given when the mirror is made. */
  mirrorId: string
  /** Random; another one whenever everything is started over. Two copies never have the same. */
  generation: string
  /** Generations that were this mirror's, or that the operator has let it replace. */
  former: readonly string[]
  /** Normalised URL, with the account where the configuration names one. */
  endpoint: string | undefined
  beat: number
  runId: string | undefined
  /** A loss was noticed and is not repaired yet: whatever the repair needs to go on after a restart. */
  repairing: string | undefined
  /** Of the newest loss that was noticed, epoch ms. */
  lastLossMs: number | undefined
  /** Redis knew of a later state of this mirror, epoch ms; only starting over ends that. */
  behindSinceMs: number | undefined
  /** How far starting over is; undefined: it is done, or was never begun. */
  startOver: number | undefined
  /** Calls of before the newest start over may take effect until then, epoch ms: none to their endpoint begins earlier. */
  callsFromMs: number | undefined
  /** The operator has confirmed another endpoint, and the start over that follows is not done. */
  isMoving: boolean | undefined
  /** The last number that was given in each lane. */
  last: Readonly<Record<Lane, number>>
  /** Places up to these numbers may be known to Redis. */
  offered: Readonly<Record<Lane, number>>
}

/** New products of one call, which takes them from the mirror: Redis knows nothing of them. */
export interface TakenProducts {
  token: string
  ids: ProductId[]
  /** Of 16 bytes each. */
  digests: Uint8Array<ArrayBuffer>
  documents: JoinedBytes
  /** Since when they wait: so many of them, in their order. */
  waiting: { sinceMs: number; products: number }[]
}

/**
 * What calls of new products ask the mirror's thread for. `want`: products for so many more calls (0: it is asked later), of at
 * most so many bytes; `isPart`: a call is about to begin, and need not be full. `rest`: this process makes no calls for now.
 * `settled`: the endpoint took them all.
 * `bind`: the call has not ended so: in Redis they become those of its claim. `return`: nothing of it was sent.
 */
export type NewCallRequest =
  | { kind: 'want'; calls: number; bytesMax: number; isPart: boolean }
  | { kind: 'settled'; token: string }
  | { kind: 'bind'; token: string; claim: string }
  | { kind: 'return'; token: string }
  | { kind: 'rest' }

/**
 * `opened`: with this session of the guard calls may begin, which another process with this mirror ends. `due`: products wait
 * that fill no call, and shall not wait for more. `recalled`: a change waits, so the call shall not begin. `forgotten`: all that
 * was taken is sent again; nothing of it may begin.
 */
export type NewCallAnswer =
  | { kind: 'opened'; session: string }
  | { kind: 'taken'; taken: TakenProducts }
  | { kind: 'due' }
  | { kind: 'recalled'; token: string }
  | { kind: 'bound'; token: string }
  | { kind: 'forgotten' }
