import type { ProductId } from '../lib/brand.ts'
import type { Database } from '../lib/database.ts'
import { newest } from './documents.ts'
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
    access.places.tidy(row.key)
  }
  for (const { productId, digest, held } of endPlaces(database, { acknowledged, positions })) {
    change(productId, held, (row) => {
      row.acknowledged = digest ?? doubtful
      access.places.acknowledge(row.key, row.acknowledged)
      // It was taken after all, or goes out again: refusals in a row are taken back with a doubt.
      if (row.dead === null || (digest !== undefined && !sameBytes(row.digest, digest))) return
      forgetDead(database, row.key)
      row.dead = null
    })
  }
  for (const { letter, digest, held } of dead) {
    change(letter.productId, held, (row) => bury(access, row, { letter, digest, held }))
  }
  for (const { productId, held } of dropped) change(productId, held, () => undefined)
}

/** Products that Redis told of, by keys or ids (?1, JSON) and digests (?2) in the same order. */
const toldBy = (column: 'key' | 'id') =>
  `(SELECT p.key, t.key AS at, substr(?2, 16 * t.key + 1, 16) AS told FROM json_each(?1) t
  LEFT JOIN products p ON p.${column} = t.value)`

/**
 * What becomes of nearly every product, in one statement for all: its newest document is acknowledged, and nothing is under
 * way. Fastest in the order of keys, or of ids. Returns the others.
 */
function endPlaces(
  database: Database,
  { acknowledged = [], positions }: Pick<Drained, 'acknowledged' | 'positions'>,
): NonNullable<Drained['acknowledged']> {
  const [ended, others] = [acknowledged.filter(isEnded), acknowledged.filter((each) => !isEnded(each))]
  const areKeyed = ended.every(({ key }) => key !== undefined)
  const told = toldBy(areKeyed ? 'key' : 'id')
  const names = JSON.stringify(ended.map(({ productId, key }) => (areKeyed ? key : productId)))
  const digests = Buffer.concat(ended.map(({ digest }) => digest ?? doubtful))
  const end = `DELETE FROM sending WHERE product IN (
    SELECT product FROM ${told} CROSS JOIN sending ON product = key WHERE digest = told
      AND (number IS NULL OR number <= CASE lane WHEN 0 THEN ?3 WHEN 1 THEN ?4 ELSE ?5 END)
      AND product NOT IN (SELECT product FROM dead))`
  const { urgent, new: fresh, deferred } = positions
  const { changes } = database.run(end, names, digests, urgent, fresh, deferred)
  if (changes === ended.length) return others
  // The others may have been acknowledged before.
  const rest = `SELECT at FROM ${told} p LEFT JOIN sending s ON s.product = p.key ${newest.joins}
    WHERE s.product IS NOT NULL OR ${newest.digest} IS NOT told OR p.key IN (SELECT product FROM dead)`
  const left = database.all<{ at: number }>(rest, names, digests)
  return [...others, ...left.flatMap(({ at }) => ended[at] ?? [])]
}

function isEnded({ digest, held }: NonNullable<Drained['acknowledged']>[number]): boolean {
  return digest !== undefined && !held
}

/** Counts only where the refused document is the newest; a newer one has a place already. */
function bury(
  { database, places }: Access,
  row: DrainedRow,
  { letter, digest, held }: NonNullable<Drained['dead']>[number],
): void {
  if (!sameBytes(row.digest, digest)) return
  const { productId, ...rest } = letter
  const dropped = database.get<{ digest: Uint8Array }>('SELECT digest FROM dropped WHERE id = ?', productId)
  if (sameBytes(dropped?.digest, digest)) {
    // What may be taken back is told again when that is decided.
    if (!held) database.run('DELETE FROM dropped WHERE id = ?', productId)
    places.acknowledge(row.key, digest)
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

export function forgetDead(database: Database, key: number): void {
  database.run('DELETE FROM dead WHERE product = ?', key)
}

export function keyOf(database: Database, id: ProductId): number | undefined {
  return database.get<{ key: number }>('SELECT key FROM products WHERE id = ?', id)?.key
}

export function readRow(database: Database, id: ProductId | string): DrainedRow | undefined {
  const sql = `SELECT p.key, s.lane, s.number, s.since, s.known, s.digest, s.acknowledged, d.digest AS dead
    FROM products p JOIN standing s ON s.product = p.key AND s.hasRow LEFT JOIN dead d ON d.product = p.key
    WHERE p.id = ?`
  return database.get<DrainedRow>(sql, id)
}
