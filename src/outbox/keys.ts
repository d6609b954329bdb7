import type { CatalogName } from '../lib/brand.ts'

/**
 * The Redis keys of one catalog. All share one hash tag, so that scripts and transactions work in a Cluster. None grows
 * with time: each is bounded by the number of products, of calls in flight, or of feeds.
 */
export interface CatalogKeys {
  /** HASH id → wire document of a product that is due. */
  documents: string
  /** HASH id → digest of the acknowledged document, empty for a doubt, `=` of a dropped offer: until drained. */
  acknowledged: string
  /** HASH id → 16 bytes of digest, what the document is there for (u n d e r), its bytes. One entry per document. */
  pending: string
  /** ZSET id → ms since when it is due. */
  urgent: string
  /** ZSET id → ms when it becomes due. */
  new: string
  /** ZSET id → ms since when it is unsent. */
  deferred: string
  /** ZSET id → ms after which a send must begin. */
  echoes: string
  /** ZSET id → the same, of echoes that are due and wait for their document. */
  requests: string
  /** HASH id → `token began lane score`: products bound to a call. */
  claimed: string
  /** ZSET token → ms when the lease ends. */
  leases: string
  /** HASH id → 16 bytes of digest, then JSON with the reason: until drained. */
  dead: string
  /** LIST of `lane id`, refused without being named since the last acceptance; at most 20. */
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
  /** HASH lane → the last number of its places that was offered. */
  positions: string
  /** HASH lane (u n d), e (echoes), r (refused, undecided) → bytes of their documents. */
  bytes: string
  /** STRING: a counter that the mirror remembers. */
  beat: string
  /** HASH: whose keys these are, and whether calls may begin (`guard.ts`). */
  guard: string
}

/** Prefix of everything a catalog stores, BullMQ's queue included. */
function catalogPrefix(catalog: CatalogName): string {
  return `catalogd:{${catalog}}`
}

/**
 * Of the scripts. A process with others is refused by the guard: it delivers nothing. An importing process that is newer
 * repairs what an older one has left, and so takes it over.
 */
export const outboxVersion = 2

export function catalogKeys(catalog: CatalogName): CatalogKeys {
  // The same in every version of the scripts: each finds the guard of the others.
  const prefix = `${catalogPrefix(catalog)}:2`
  const key = (name: string): string => `${prefix}:${name}`
  return {
    documents: key('documents'),
    acknowledged: key('acknowledged'),
    pending: key('pending'),
    urgent: key('urgent'),
    new: key('new'),
    deferred: key('deferred'),
    echoes: key('echoes'),
    requests: key('requests'),
    claimed: key('claimed'),
    leases: key('leases'),
    dead: key('dead'),
    refusals: key('refusals'),
    pause: key('pause'),
    pace: key('pace'),
    probed: key('probed'),
    probeTurn: key('probe-turn'),
    counters: key('counters'),
    positions: key('positions'),
    bytes: key('bytes'),
    beat: key('beat'),
    guard: key('guard'),
  }
}
