import type { ProductId } from '../lib/brand.ts'
import type { Database } from '../lib/database.ts'
import { laneRank, lanes } from './lanes.ts'
import type { Drained } from './loop-model.ts'
import { type SendingRow, sameBytes } from './place-after-edit.ts'
import { type Access, doubtful } from './places.ts'

interface DrainedRow extends SendingRow {
  key: number
  dead: Uint8Array | null
}

/** What Redis held of the product, and how far its lanes were offered, when it was read. */
interface Seen {
  held: boolean
  positions: Drained['positions']
}

/** Takes over what Redis tells of products; inside a transaction. Safe to repeat. */
export function drain(access: Access, drained: Drained, nowMs: number): void {
  const { acknowledged = [], dead = [], dropped = [], positions } = drained
  const { database } = access
  const change = (productId: string, held: boolean, apply: (row: DrainedRow) => void) => {
    const row = readRow(database, productId)
    if (!row) return
    apply(row)
    settle(access, row, { held, positions }, nowMs)
  }
  for (const { key, productId, digest, held } of inKeyOrder(database, acknowledged)) {
    if (digest && !held && endPlace(database, { key, digest, positions }, nowMs)) continue
    change(productId, held, (row) => {
      row.acknowledged = digest ?? doubtful
      const sql = 'UPDATE sending SET acknowledged = ?, acknowledged_at = ? WHERE product = ?'
      database.run(sql, row.acknowledged, nowMs, row.key)
      // It was taken after all, or goes out again: refusals in a row are taken back with a doubt.
      if (row.dead === null || (digest !== undefined && !sameBytes(row.digest, digest))) return
      forgetDead(database, row.key)
      row.dead = null
    })
  }
  for (const { letter, digest, held } of dead) {
    change(letter.productId, held, (row) => bury(database, row, { letter, digest, held }))
  }
  for (const { productId, held } of dropped) change(productId, held, () => undefined)
}

/** They come in no order; neighbours in a table are written together. */
function inKeyOrder(database: Database, acknowledged: NonNullable<Drained['acknowledged']>) {
  const byId = acknowledged.toSorted((one, other) => (one.productId < other.productId ? -1 : 1))
  const known = byId.flatMap((each) => {
    const key = keyOf(database, each.productId)
    return key === undefined ? [] : [{ key, ...each }]
  })
  return known.sort((one, other) => one.key - other.key)
}

/** What becomes of nearly every product, in one statement: its newest document is acknowledged, and nothing is under way. */
function endPlace(
  database: Database,
  { key, digest, positions }: { key: number; digest: Uint8Array; positions: Drained['positions'] },
  nowMs: number,
): boolean {
  const sql = `UPDATE sending
    SET acknowledged = digest, acknowledged_at = ?, lane = NULL, number = NULL, since = NULL, known = NULL
    WHERE product = ? AND digest = ?
      AND (number IS NULL OR number <= CASE lane WHEN 0 THEN ? WHEN 1 THEN ? ELSE ? END)
      AND product NOT IN (SELECT product FROM dead)`
  const { urgent, new: fresh, deferred } = positions
  return database.run(sql, nowMs, key, digest, urgent, fresh, deferred).changes === 1
}

/** Counts only where the refused document is the newest; a newer one has a place already. */
function bury(
  database: Database,
  row: DrainedRow,
  { letter, digest, held }: NonNullable<Drained['dead']>[number],
): void {
  if (!sameBytes(row.digest, digest)) return
  const { productId, ...rest } = letter
  const dropped = database.get<{ digest: Uint8Array }>('SELECT digest FROM dropped WHERE id = ?', productId)
  if (sameBytes(dropped?.digest, digest)) {
    // What may be taken back is told again when that is decided.
    if (!held) database.run('DELETE FROM dropped WHERE id = ?', productId)
    giveUp(database, row.key, digest)
    row.acknowledged = digest
  } else {
    const sql = 'INSERT OR REPLACE INTO dead (product, digest, at, letter) VALUES (?, ?, ?, ?)'
    database.run(sql, row.key, digest, letter.at, JSON.stringify(rest))
    row.dead = digest
  }
}

/** Whether a product keeps its place, loses it, or needs another, after what Redis said of it. */
function settle({ places }: Access, row: DrainedRow, { held, positions }: Seen, nowMs: number): void {
  if (held) {
    places.ensure(row, laneRank.urgent, nowMs)
    return
  }
  const isOffered = row.lane !== null && row.number !== null && row.number <= positions[lanes[row.lane]]
  // It will be offered, whatever it is now.
  if (row.number !== null && !isOffered) return
  const isWanted = row.dead === null && row.digest !== null && !sameBytes(row.digest, row.acknowledged)
  if (!isWanted) {
    if (row.lane !== null) places.lose(row.key)
  } else if (row.lane === null || isOffered || row.acknowledged?.length === 0) {
    places.give(row, laneRank.urgent, nowMs)
  }
}

/** The operator gave this document up: it counts as acknowledged until a newer one comes. */
export function giveUp(database: Database, key: number, digest: Uint8Array): void {
  database.run('UPDATE sending SET acknowledged = ? WHERE product = ?', digest, key)
}

export function forgetDead(database: Database, key: number): void {
  database.run('DELETE FROM dead WHERE product = ?', key)
}

export function keyOf(database: Database, id: ProductId): number | undefined {
  return database.get<{ key: number }>('SELECT key FROM products WHERE id = ?', id)?.key
}

export function readRow(database: Database, id: ProductId | string): DrainedRow | undefined {
  const sql = `SELECT p.key, s.lane, s.number, s.since, s.known, s.digest, s.acknowledged, d.digest AS dead
    FROM products p JOIN sending s ON s.product = p.key LEFT JOIN dead d ON d.product = p.key WHERE p.id = ?`
  return database.get<DrainedRow>(sql, id)
}
