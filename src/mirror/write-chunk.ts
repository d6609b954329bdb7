import type { ProductId } from '../lib/brand.ts'
import type { Database } from '../lib/database.ts'
import { forgetDead, keyOf, readRow } from './drain.ts'
import { addToFact, removeFacts, writeFact } from './facts.ts'
import { laneRank } from './lanes.ts'
import type { MirrorChunk } from './model.ts'
import { sameBytes } from './place-after-edit.ts'
import type { Access } from './places.ts'
import { writeAbsent, writeIndexes, writeOrigins, writeProduct } from './write-products.ts'

/** Makes all changes of the chunk, inside a transaction. Safe to repeat, but for the counters. */
export function writeChunk(access: Access, chunk: MirrorChunk, nowMs: number): void {
  for (const write of chunk.writes) writeProduct(access, write, nowMs)
  access.history.write()
  writeOrigins(access, chunk)
  writeIndexes(access.database, chunk)
  if (chunk.absent) writeAbsent(access, chunk.absent)
  writeDecisions(access, chunk, nowMs)
  writeHeld(access.database, chunk)
  writeKnown(access.database, chunk)
  writeBookkeeping(access.database, chunk)
}

function writeDecisions(access: Access, chunk: MirrorChunk, nowMs: number): void {
  const { database, places } = access
  for (const id of chunk.resend ?? []) sendAgain(access, id, nowMs)
  for (const id of chunk.retryDead ?? []) {
    const row = readRow(database, id)
    if (!row?.dead) continue
    forgetDead(database, row.key)
    places.ensure(row, laneRank.new, nowMs)
  }
  for (const { productId, digest } of chunk.dropDead ?? []) {
    const row = readRow(database, productId)
    const isDead = row !== undefined && sameBytes(row.dead, digest)
    if (isDead) {
      forgetDead(database, row.key)
      // It counts as acknowledged until a newer document comes.
      places.acknowledge(row.key, digest)
      places.tidy(row.key)
    }
    // Redis will tell of it; once more where it may be taken back.
    if (isDead ? row.lane !== null : !sameBytes(row?.acknowledged ?? null, digest)) {
      database.run('INSERT OR REPLACE INTO dropped (id, digest) VALUES (?, ?)', productId, digest)
    }
  }
}

function sendAgain({ database, places }: Access, id: ProductId, nowMs: number): void {
  const row = readRow(database, id)
  if (!row || row.digest === null) return
  places.doubt(row.key)
  forgetDead(database, row.key)
  places.ensure(row, laneRank.new, nowMs)
}

function writeHeld(database: Database, { held, heldIds }: MirrorChunk): void {
  if (held) writeFact(database, 'held', held.feed, held.value)
  if (!heldIds) return
  const { feed, clear, add = [], remove = [] } = heldIds
  if (clear) database.run('DELETE FROM held_ids WHERE feed = ?', feed)
  for (const [ids, sql] of [
    [add, 'INSERT OR IGNORE INTO held_ids (feed, product) VALUES (?, ?)'],
    [remove, 'DELETE FROM held_ids WHERE feed = ? AND product = ?'],
  ] as const) {
    for (const id of ids) {
      const key = keyOf(database, id)
      if (key !== undefined) database.run(sql, feed, key)
    }
  }
}

function writeKnown(database: Database, { known, changedSince }: MirrorChunk): void {
  if (known) {
    const { feed, value } = known
    writeFact(database, 'known', feed, value && JSON.stringify(value))
    if (value?.claim === undefined) database.run('DELETE FROM changed_since WHERE feed = ?', feed)
  }
  const sql = 'INSERT OR IGNORE INTO changed_since SELECT ?, key FROM products WHERE id = ?'
  for (const id of changedSince?.ids ?? []) database.run(sql, changedSince?.feed ?? '', id)
}

function writeBookkeeping(database: Database, chunk: MirrorChunk): void {
  const { counts, forgetCounts, fullAsOf, progress, rewind, applied, keyFields, notices = [], calls } = chunk
  for (const [name, by] of Object.entries(counts?.add ?? {})) {
    addToFact(database, `count:${counts?.claim}`, name, by)
  }
  if (forgetCounts !== undefined) removeFacts(database, `count:${forgetCounts}`)
  if (fullAsOf) writeFact(database, 'full-as-of', fullAsOf.feed, fullAsOf.value)
  if (progress) writeFact(database, 'progress', progress.feed, progress.value)
  if (rewind) {
    const sql = 'DELETE FROM imports WHERE scope = ? AND sequence > ?'
    database.run(sql, rewind.scope, rewind.sequence)
  }
  if (applied) {
    const sql = 'INSERT OR REPLACE INTO imports (key, scope, sequence) VALUES (?, ?, ?)'
    database.run(sql, applied.key, applied.scope, applied.sequence)
  }
  for (const field of keyFields?.drop ?? []) writeFact(database, 'key-field', field, undefined)
  for (const field of keyFields?.complete ?? []) writeFact(database, 'key-field', field, 1)
  for (const { key, value } of notices) writeFact(database, 'notice', key, value)
  if (calls) {
    writeFact(database, 'calls', 'decision', calls.decision)
    writeFact(database, 'calls', 'at', calls.at)
  }
}
