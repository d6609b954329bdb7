import type { ProductId } from '../lib/brand.ts'
import type { Database } from './database.ts'
import { laneRank } from './lanes.ts'
import type { Drained } from './loop-model.ts'
import { type SendingRow, sameBytes } from './place-after-edit.ts'
import type { Places } from './places.ts'

interface DrainedRow extends SendingRow {
  key: number
  dead: Uint8Array | null
}

interface Access {
  database: Database
  places: Places
}

/** Takes over what Redis tells of products; inside a transaction. Safe to repeat. */
export function drain(access: Access, drained: Drained, nowMs: number): void {
  for (const each of drained.acknowledged ?? []) acknowledge(access, each, nowMs)
  for (const each of drained.dead ?? []) bury(access, each, nowMs)
  for (const each of drained.dropped ?? []) drop(access, each, nowMs)
}

function acknowledge(
  { database, places }: Access,
  { productId, digest, echoLeft = false }: NonNullable<Drained['acknowledged']>[number],
  nowMs: number,
): void {
  const row = readRow(database, productId)
  if (!row) return
  if (digest === undefined) {
    places.doubt(row.key)
    if (row.lane === null) places.give(row.key, laneRank.urgent, nowMs)
    return
  }
  const isNewest = row.digest === null || sameBytes(row.digest, digest)
  if (isNewest && !echoLeft) {
    const sql = `UPDATE sending SET acknowledged = ?, acknowledged_at = ?, lane = NULL, number = NULL, since = NULL
      WHERE product = ?`
    database.run(sql, digest, nowMs, row.key)
  } else {
    const sql = 'UPDATE sending SET acknowledged = ?, acknowledged_at = ? WHERE product = ?'
    database.run(sql, digest, nowMs, row.key)
  }
  if (isNewest && row.dead !== null) forgetDead(database, row.key)
  // The endpoint holds an older document again, or is to be told once more: nothing else would send the newest.
  if (row.lane === null && (echoLeft || (!isNewest && row.dead === null))) {
    places.give(row.key, laneRank.urgent, nowMs)
  }
}

/** Counts only where the refused document is the newest; a newer one has a place already. */
function bury(
  { database, places }: Access,
  { letter, digest, echoLeft = false }: NonNullable<Drained['dead']>[number],
  nowMs: number,
): void {
  const { productId, ...rest } = letter
  const row = readRow(database, productId)
  if (!row || !sameBytes(row.digest, digest)) return
  const given = database.get<{ digest: Uint8Array }>('SELECT digest FROM dropped WHERE id = ?', productId)
  if (sameBytes(given?.digest, digest)) {
    database.run('DELETE FROM dropped WHERE id = ?', productId)
    settle(database, row.key, digest)
  } else {
    const sql = 'INSERT OR REPLACE INTO dead (product, digest, at, letter) VALUES (?, ?, ?, ?)'
    database.run(sql, row.key, digest, letter.at, JSON.stringify(rest))
  }
  if (!echoLeft) places.lose(row.key)
  else if (row.lane === null) places.give(row.key, laneRank.urgent, nowMs)
}

/** The offer found nothing of the product under way. Something may have been drained since the pump read its place. */
function drop(
  { database, places }: Access,
  { productId, lane, number }: NonNullable<Drained['dropped']>[number],
  nowMs: number,
): void {
  const row = readRow(database, productId)
  if (!row || row.lane !== laneRank[lane] || row.number !== number) return
  if (row.digest === null || sameBytes(row.digest, row.acknowledged)) places.lose(row.key)
  else places.give(row.key, row.lane, row.since ?? nowMs)
}

/** The operator gave this document up: it counts as acknowledged until a newer one comes. */
export function settle(database: Database, key: number, digest: Uint8Array): void {
  database.run('UPDATE sending SET acknowledged = ? WHERE product = ?', digest, key)
}

export function forgetDead(database: Database, key: number): void {
  database.run('DELETE FROM dead WHERE product = ?', key)
}

export function readRow(database: Database, id: ProductId | string): DrainedRow | undefined {
  const sql = `SELECT p.key, s.lane, s.number, s.since, s.digest, s.acknowledged, d.digest AS dead
    FROM products p JOIN sending s ON s.product = p.key LEFT JOIN dead d ON d.product = p.key WHERE p.id = ?`
  return database.get<DrainedRow>(sql, id)
}
