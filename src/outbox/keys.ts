import type { CatalogName, FeedName } from '../lib/brand.ts'

/**
 * The Redis keys of one catalog. All share one hash tag, so that scripts and transactions work in a Cluster. None grows
 * with time: each is bounded by the number of products, of calls in flight, or of feeds.
 */
export interface CatalogKeys {
  /** HASH id → wire document, of complete products only. */
  documents: string
  /** HASH id → JSON of what the wire document does not hold (incomplete, marked missing, or with announced changes). */
  partials: string
  /** HASH id → which feeds name the product, who wrote which field, missing marks. One entry per known product. */
  meta: string
  /** HASH id → required fields that are missing. */
  incomplete: string
  /** ZSET id → ms when what a feed has announced for the product holds; only of products that wait for something. */
  switches: string
  /** HASH id → digest of the newest acknowledged document. */
  acknowledged: string
  /** HASH id → digest of the newest document, while it is not acknowledged. */
  pending: string
  /** ZSET id → ms since when it is due. */
  urgent: string
  /** ZSET id → ms since when it is due. */
  new: string
  /** ZSET id → ms when it becomes due. */
  deferred: string
  /** ZSET id → ms after which a send must begin. */
  echoes: string
  /** HASH id → `token began lane score`: products bound to a call. */
  claimed: string
  /** ZSET token → ms when the lease ends. */
  leases: string
  /** HASH id → 16 bytes of digest, then JSON with the reason. */
  dead: string
  /** HASH id → digest of a document that the operator gave up, where Redis had forgotten that it was refused. */
  dropped: string
  /** LIST of ids refused without being named since the last acceptance; at most 20. */
  refusals: string
  /** HASH reason → JSON. */
  pause: string
  /**
   * HASH: `until`, `untilFor`, `untilReason`, `tat`, `booked`, `calls`, `turn:<lane>`, `urgentAt`, `failures`,
   * `lastFailure`, `bodyBytes`.
   */
  pace: string
  /** STRING with expiry: a probe was answered well a moment ago. */
  probed: string
  /** STRING with expiry: who probes. */
  probeTurn: string
  /** HASH: calls, bytes, products acknowledged, by lane. */
  counters: string
  /** STRING `token:position` of the one writer. */
  writer: string
  /** STRING with expiry: who holds the writer's lease. */
  writerLease: string
  /** STRING: whose manifest the sequences in `applied` belong to. */
  origin: string
  /** HASH feed → last accept sequence that is wholly applied; `*` for decisions about the catalog. */
  applied: string
  /** HASH `sequence:what` → count, of unfinished imports. */
  counts: string
  /** HASH feed → JSON: the newest full file that was applied, where files say as of when they hold. */
  fullAsOf: string
  /** HASH feed → JSON list: what is held, why. */
  held: string
  /** HASH key → JSON { text, at }: troubles that `status` shows. */
  notices: string
  /** STRING `token count`, which only grows: a Redis that lost writes shows by it. */
  alertMark: string
  /** HASH feed → JSON: how far the running import is. */
  progress: string
  /** SET of fields whose index of products is complete. */
  keyFields: string
  /** ZSET of `value NUL id` at score 0: which products have a value in this field. Of fields that are a feed's key only. */
  keyIndex(field: string): string
  /** SET of ids whose removal waits for approval. */
  heldIds(feed: FeedName): string
}

/** Prefix of everything a catalog stores, BullMQ's queue included. */
function catalogPrefix(catalog: CatalogName): string {
  return `catalogd:{${catalog}}`
}

export function catalogKeys(catalog: CatalogName): CatalogKeys {
  const prefix = catalogPrefix(catalog)
  const key = (name: string): string => `${prefix}:${name}`
  return {
    documents: key('documents'),
    partials: key('partials'),
    meta: key('meta'),
    incomplete: key('incomplete'),
    switches: key('switches'),
    acknowledged: key('acknowledged'),
    pending: key('pending'),
    urgent: key('urgent'),
    new: key('new'),
    deferred: key('deferred'),
    echoes: key('echoes'),
    claimed: key('claimed'),
    leases: key('leases'),
    dead: key('dead'),
    dropped: key('dropped'),
    refusals: key('refusals'),
    pause: key('pause'),
    pace: key('pace'),
    probed: key('probed'),
    probeTurn: key('probe-turn'),
    counters: key('counters'),
    writer: key('writer'),
    writerLease: key('writer-lease'),
    origin: key('origin'),
    applied: key('applied'),
    counts: key('counts'),
    fullAsOf: key('full-as-of'),
    held: key('held'),
    notices: key('notices'),
    alertMark: key('alert-mark'),
    progress: key('progress'),
    keyFields: key('key-fields'),
    keyIndex: (field) => key(`key-index:${field}`),
    heldIds: (feed) => key(`held-ids:${feed}`),
  }
}
