import type { Lane } from '../catalog/model.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'

/** First 16 bytes of the SHA-256 of a document's bytes. */
export type DocumentDigest = Buffer

/** What the mirror holds of one product besides its sending. */
export interface StoredProduct {
  document: Buffer | undefined
  /** JSON of what the document does not hold (incomplete, marked missing, or with announced changes). */
  partial: Buffer | undefined
  /** Which feeds name the product, who wrote which field, missing marks. */
  meta: string | undefined
  /** Which records its fields come from (`catalog/origins.ts`); undefined: nobody noted it. */
  origins?: string | undefined
  /** No document of it was ever acknowledged: it waits in lane new, whatever is edited meanwhile (`placeAfterEdit`). */
  isUndelivered?: boolean
  /** Absent where the product is not known. */
  row?: StoredRow
}

/** Only the update that read this changes it, so its write need not read it again. */
export interface StoredRow {
  key: number
  /** The required fields that are missing, in words. */
  missing: string | null
  digest: Uint8Array | null
}

/** A product that has a value in a field by which feeds find products. */
export interface KeyEntry {
  field: string
  value: string
  productId: ProductId
}

/** The new stored form of one product; parts that are undefined are removed. */
export interface ProductWrite {
  productId: ProductId
  document: Buffer | undefined
  partial: Buffer | undefined
  meta: string
  /** The required fields that are missing, in words; undefined: the document is complete. */
  incomplete: string | undefined
  /** When the product changes next by itself, ms since the epoch; `none`: no longer. Left out: there is and was nothing. */
  switchAt?: number | 'none'
  /** By which values feeds find the product from now on, and no longer. */
  keys?: { add: readonly KeyEntry[]; remove: readonly KeyEntry[] }
  /** Present when the document differs from the stored one. */
  lane: Lane | undefined
  origins?: string | undefined
  /** What changed of a document that was there before, as `catalog/change-entry.ts` writes it. */
  change?: string | undefined
  /** The product as it was read for this write. Without it, the product is looked up by its id. */
  before?: ProductBefore | undefined
}

export interface ProductBefore extends Pick<StoredRow, 'key' | 'digest'> {
  /** `meta` and `incomplete` are as they were: the row in `products` stays. */
  keepsRow: boolean
}

/** What was applied: the claim id of a file, or the request of a decision. Unlike a sequence no other manifest has it. */
export type StepKey = string

/** Everything that one transaction changes. */
export interface MirrorChunk {
  writes: readonly ProductWrite[]
  /** Of products that are not written: what another feed hides has changed. */
  origins?: readonly { productId: ProductId; origins: string }[]
  /** Products to be sent once more, changed or not: their acknowledgement is believed no longer (lane `new`, due at once). */
  resend?: readonly ProductId[]
  /** Added to the counters of an unfinished import, which `forgetCounts` removes. */
  counts?: { claim: string; add: Readonly<Record<string, number>> }
  forgetCounts?: string
  /** JSON under the feed's name, to set (string) or remove (undefined). */
  held?: { feed: FeedName; value: string | undefined }
  fullAsOf?: { feed: FeedName; value: string }
  progress?: { feed: FeedName; value: string | undefined }
  /** Products whose removal waits for approval. */
  heldIds?: { feed: FeedName; add?: readonly ProductId[]; remove?: readonly ProductId[]; clear?: boolean }
  /** A step of the manifest that is applied. `*` is the catalog itself. Safe to repeat. */
  applied?: { scope: FeedName | '*'; sequence: number; key: StepKey }
  /** Before `applied`: what was applied of the scope behind this sequence is to be applied again. */
  rewind?: { scope: FeedName | '*'; sequence: number }
  /** When products change next, written or not. */
  switches?: readonly Required<Pick<ProductWrite, 'productId' | 'switchAt'>>[]
  /** Products that were written before anything asked for them by these fields. */
  addKeys?: readonly KeyEntry[]
  /** `drop`: the indexes of these fields are emptied. `complete`: they hold all products from now on. */
  keyFields?: { drop?: readonly string[]; complete?: readonly string[] }
  /** The index of a feed's last full file, to set or remove. A new one forgets which products were changed since the last. */
  known?: { feed: FeedName; value: KnownIndex | undefined }
  /** Products that a file of the feed changes behind its index. */
  changedSince?: { feed: FeedName; ids: readonly ProductId[] }
  /** JSON of troubles that `status` shows, by their keys, to set (string) or remove (undefined). */
  notices?: readonly { key: string; value: string | undefined }[]
  /** The operator's decision about all calls. The loop makes Redis follow it: at once, and whenever Redis was away. */
  calls?: CallsDecision
  /**
   * Products that no feed names from now on, those that one names again, and those to be forgotten as if they had never
   * been there, but for those that have a place.
   */
  absent?: Readonly<Record<'absent' | 'present' | 'forget', readonly ProductId[]>> & { nowMs: number }
  /** Dead letters that are tried again (lane `new`, due at once). */
  retryDead?: readonly ProductId[]
  /** Dead letters that are settled until a newer document comes; only of these documents, also where none is dead now. */
  dropDead?: readonly { productId: ProductId; digest: DocumentDigest }[]
}

/** Names the file that holds which records of a feed were applied. */
export interface KnownIndex {
  id: string
  /** Digest of the configuration by which they were applied. */
  rules: string
  /** The full file that was begun since: no other may use the index. */
  claim?: string
}

/**
 * `pause`: Redis has the pause `operator` with this time and hint. `resume`: it has not, and no pause for
 * `refuses-everything` that is older.
 */
export interface CallsDecision {
  decision: 'pause' | 'resume'
  /** ISO 8601. */
  at: string
}

/** Values of one field by which products are to be found. */
export interface KeyLookup {
  field: string
  values: readonly string[]
}

/** By value the products that have it: none, one, or the first two of several. */
export type FoundProducts = ReadonlyMap<string, readonly ProductId[]>

/** A product that the endpoint refused, until a newer document revives it. */
export interface DeadLetter {
  productId: string
  /** The endpoint's own words where it gave any. */
  reason: string
  /** HTTP status; null when the product was never sent (too large for any call). */
  status: number | null
  requestId: string | null
  /** ISO 8601. */
  at: string
}

/** Where the products of a catalog stand. */
export interface MirrorCounts {
  /** With a complete document. */
  products: number
  /** Products that miss required fields: not sent. */
  incomplete: number
  /**
   * Products that have a place and whose newest document is not acknowledged. `sinceMs`: since when the first of them is
   * unsent (epoch); undefined: none is.
   */
  places: Record<Lane, { waiting: number; sinceMs: number | undefined }>
  /** Products that have a place although it is acknowledged: they are echoed, or Redis is about to let them go. */
  repeats: number
  dead: number
}

/** Whether delivery waits for a repair: Redis forgot something, or everything is started over. */
export interface RepairState {
  /** Of the newest loss that was noticed, epoch ms; undefined: none ever was. */
  lastLossMs: number | undefined
  /** It is not repaired yet. */
  repairing: boolean
}
