import type { CatalogName } from '../lib/brand.ts'

/**
 * The Redis keys of one catalog. All share one hash tag, so that scripts and transactions work in a Cluster. None grows
 * with time: each is bounded by the number of products, of calls in flight, or of feeds.
 *
 * KEYS of every script are all of these in this order, in which `start.lua` names them.
 */
export const keyNames = [
  /** HASH id → wire document of a product that is due, where somebody delivers who has no mirror to read it in. */
  'documents',
  /** HASH id → 16 bytes of digest, what the document is there for (u n d e r), its bytes. */
  'pending',
  /** ZSET id → ms since when it is due. */
  'urgent',
  /** ZSET id → ms when it becomes due. */
  'new',
  /** ZSET id → ms since when it is unsent. */
  'deferred',
  /** ZSET id → ms after which a send must begin. */
  'echoes',
  /** ZSET id → the same, of echoes that are due and wait for their document. */
  'requests',
  /** HASH id → `token began lane score`: products bound to a call. */
  'claimed',
  /** ZSET token → ms when the lease ends. */
  'leases',
  /** HASH id → digest of the acknowledged document, empty for a doubt, `=` of a dropped offer: until drained. */
  'acknowledged',
  /** HASH id → 16 bytes of digest, then JSON with the reason: until drained. */
  'dead',
  /** LIST of `lane id`, refused without being named since the last acceptance; at most 20. */
  'refusals',
  /** HASH reason → JSON. */
  'pause',
  /**
   * HASH: `until`, `untilFor`, `untilReason`, `tat`, `booked`, `calls`, `turn:<lane>`, `urgentAt`, `failures`,
   * `lastFailure`, `fillsUntil`, `fillsSince`, `bodyBytes`, `readAt`, `newHere` (next is the turn of new products that wait here).
   */
  'pace',
  /** HASH lane → the last number of its places that was offered. */
  'positions',
  /** HASH lane (u n d), e (echoes), r (refused, undecided) → bytes of their documents. */
  'bytes',
  /** STRING: a counter that the mirror remembers. */
  'beat',
  /** HASH: whose keys these are, and whether calls may begin (`guard.ts`). */
  'guard',
  /** HASH: calls, bytes, products acknowledged, by lane. */
  'counters',
  /** STRING with expiry: a probe was answered well a moment ago. */
  'probed',
  /** STRING with expiry: who probes. */
  'probeTurn',
  /** LIST of calls that processes without the mirror made: until taken over, at most 200. No script knows it. */
  'calls',
] as const

export type CatalogKeys = Readonly<Record<(typeof keyNames)[number], string>>

/**
 * Of the scripts. A process with others is refused by the guard: it delivers nothing. An importing process that is newer
 * repairs what an older one has left, and so takes it over.
 */
export const outboxVersion = 3

export function catalogKeys(catalog: CatalogName): CatalogKeys {
  // The same in every version of the scripts: each finds the guard of the others.
  const keys = keyNames.map((name) => [name, `catalogd:{${catalog}}:2:${name}`])
  return Object.fromEntries(keys) as CatalogKeys
}
