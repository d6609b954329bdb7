import type { FeedName, ProductId } from '../lib/brand.ts'
import type { RedisBatch } from '../redis/connection.ts'
import { appendKeyEntries } from './key-index.ts'
import type { CatalogKeys } from './keys.ts'
import type { KeyEntry, LaneDelays, ProductWrite } from './model.ts'
import { type OutboxScripts, offerArguments } from './scripts.ts'

/** Everything that one transaction changes. */
export interface WriterChunk {
  writes: readonly ProductWrite[]
  /** Products to be sent once more, changed or not. */
  echoes?: readonly ProductId[]
  /** Added to the counters of an unfinished import. */
  counts?: { sequence: number; add: Readonly<Record<string, number>> }
  /** HASH fields to set (string) or remove (undefined). */
  held?: { feed: FeedName; value: string | undefined }
  fullAsOf?: { feed: FeedName; value: string }
  heldIds?: { feed: FeedName; add?: readonly ProductId[]; remove?: readonly ProductId[]; clear?: boolean }
  progress?: { feed: FeedName; value: string | undefined }
  /** `*` is the catalog itself. */
  applied?: { scope: FeedName | '*'; sequence: number }
  /** The manifest changed: sequences counted in another one mean nothing. */
  origin?: string
  /** When products change next, written or not. */
  switches?: readonly Required<Pick<ProductWrite, 'productId' | 'switchAt'>>[]
  /** Products that were written before anything asked for them by these fields. */
  addKeys?: readonly KeyEntry[]
  /** `drop`: the indexes of these fields are emptied. `complete`: they hold all products from now on. */
  keyFields?: { drop?: readonly string[]; complete?: readonly string[] }
  /** Removes the counters of a finished import. */
  forgetCounts?: { sequence: number; names: readonly string[] }
}

interface ChunkAccess {
  keys: CatalogKeys
  scripts: OutboxScripts
  delays: LaneDelays
}

/** Adds all that the chunk changes to a transaction. Safe to repeat, but for the counters. */
export function appendChunk(
  multi: RedisBatch,
  chunk: WriterChunk,
  { keys, scripts, delays }: ChunkAccess,
): void {
  appendProducts(multi, chunk, keys)
  appendSwitches(multi, chunk, keys)
  appendKeys(multi, chunk, keys)
  const offers = chunk.writes.filter((write) => write.offer !== undefined)
  if (offers.length > 0) scripts.append(multi, 'offer', offerArguments(offers, delays))
  if (chunk.echoes && chunk.echoes.length > 0) scripts.append(multi, 'echo', chunk.echoes)
  appendBookkeeping(multi, chunk, keys)
}

function appendProducts(multi: RedisBatch, chunk: WriterChunk, keys: CatalogKeys): void {
  const { documents, partials, meta, incomplete } = keys
  const set: Record<'documents' | 'partials' | 'meta' | 'incomplete', (string | Buffer)[]> = {
    documents: [],
    partials: [],
    meta: [],
    incomplete: [],
  }
  const gone: Record<'documents' | 'partials' | 'incomplete', string[]> = {
    documents: [],
    partials: [],
    incomplete: [],
  }
  for (const write of chunk.writes) {
    set.meta.push(write.productId, write.meta)
    for (const part of ['documents', 'partials', 'incomplete'] as const) {
      const value = { documents: write.document, partials: write.partial, incomplete: write.incomplete }[part]
      if (value === undefined) gone[part].push(write.productId)
      else set[part].push(write.productId, value)
    }
  }
  const names = { documents, partials, meta, incomplete }
  for (const part of ['documents', 'partials', 'meta', 'incomplete'] as const) {
    if (set[part].length > 0) multi.hset(names[part], ...set[part])
  }
  for (const part of ['documents', 'partials', 'incomplete'] as const) {
    if (gone[part].length > 0) multi.hdel(names[part], ...gone[part])
  }
}

function appendSwitches(
  multi: RedisBatch,
  { writes, switches: noted = [] }: WriterChunk,
  { switches }: CatalogKeys,
): void {
  const [due, gone]: [(string | number)[], ProductId[]] = [[], []]
  for (const { productId, switchAt } of [...writes, ...noted]) {
    if (typeof switchAt === 'number') due.push(switchAt, productId)
    else if (switchAt === 'none') gone.push(productId)
  }
  if (due.length > 0) multi.zadd(switches, ...due)
  if (gone.length > 0) multi.zrem(switches, ...gone)
}

function appendKeys(
  multi: RedisBatch,
  { writes, addKeys = [], keyFields }: WriterChunk,
  keys: CatalogKeys,
): void {
  const { drop = [], complete = [] } = keyFields ?? {}
  for (const field of drop) multi.unlink(keys.keyIndex(field))
  if (drop.length > 0) multi.srem(keys.keyFields, ...drop)
  if (complete.length > 0) multi.sadd(keys.keyFields, ...complete)
  const add = [...addKeys, ...writes.flatMap((write) => write.keys?.add ?? [])]
  appendKeyEntries(multi, keys, { add, remove: writes.flatMap((write) => write.keys?.remove ?? []) })
}

function appendBookkeeping(multi: RedisBatch, chunk: WriterChunk, keys: CatalogKeys): void {
  const { counts, held, fullAsOf, progress, applied, origin } = keys
  if (chunk.origin !== undefined)
    multi.del(applied, counts, held, fullAsOf, progress).set(origin, chunk.origin)
  const { sequence, add } = chunk.counts ?? { sequence: 0, add: {} }
  for (const [name, by] of Object.entries(add)) {
    if (by !== 0) multi.hincrby(counts, `${sequence}:${name}`, by)
  }
  for (const [key, change] of [
    [held, chunk.held],
    [progress, chunk.progress],
  ] as const) {
    if (change?.value !== undefined) multi.hset(key, change.feed, change.value)
    else if (change) multi.hdel(key, change.feed)
  }
  if (chunk.fullAsOf) multi.hset(fullAsOf, chunk.fullAsOf.feed, chunk.fullAsOf.value)
  if (chunk.heldIds) appendHeldIds(multi, chunk.heldIds, keys)
  if (chunk.forgetCounts) {
    const { sequence: of, names } = chunk.forgetCounts
    if (names.length > 0) multi.hdel(counts, ...names.map((name) => `${of}:${name}`))
  }
  if (chunk.applied) multi.hset(applied, chunk.applied.scope, String(chunk.applied.sequence))
}

function appendHeldIds(
  multi: RedisBatch,
  change: NonNullable<WriterChunk['heldIds']>,
  keys: CatalogKeys,
): void {
  const key = keys.heldIds(change.feed)
  if (change.clear) multi.del(key)
  if (change.add && change.add.length > 0) multi.sadd(key, ...change.add)
  if (change.remove && change.remove.length > 0) multi.srem(key, ...change.remove)
}
