import type { ProductId } from '../lib/brand.ts'
import type { Database } from '../lib/database.ts'
import { damaged, digestDocument } from './digest.ts'
import { forgetDead, keyOf } from './drain.ts'
import type { DocumentDigest, KeyEntry, MirrorChunk, ProductBefore, ProductWrite } from './model.ts'
import { type SendingRow, sameBytes } from './place-after-edit.ts'
import type { Access } from './places.ts'

interface KnownProduct extends SendingRow {
  key: number
  /** Whether `meta` and `missing` are as they are to be written. */
  keepsRow: number
  /** Whether it has ever had a document. */
  hasRow: number
  dead: Uint8Array | null
}

/** Inside a transaction. */
export function writeProduct(access: Access, write: ProductWrite, nowMs: number): void {
  const { database, documents } = access
  const missing = write.incomplete ?? null
  let known = write.before && readPlaced(database, write.before)
  // Most often as the one before: so one look at the index of ids is enough.
  if (!known && !documents.wasNew) known = readKnown(database, write)
  let key = known?.key
  if (!known) {
    const insert = 'INSERT INTO products (id, meta, missing) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'
    const inserted = database.run(insert, write.productId, write.meta, missing)
    if (inserted.changes === 1) key = inserted.key
    else known = readKnown(database, write)
    key ??= known?.key
  }
  if (key === undefined) throw damaged(database.file)
  if (known && !known.keepsRow)
    database.run('UPDATE products SET meta = ?, missing = ? WHERE key = ?', write.meta, missing, key)
  // Also where no feed changed it: what is stored is what an acknowledgement has to name.
  const digest = write.document && digestDocument(write.document)
  documents.write(key, write, { digest, isNew: !known })
  if (write.change !== undefined) access.history.note(key, { change: write.change, nowMs })
  placeProduct(access, write, { key, known, digest, nowMs })
}

interface Placing {
  key: number
  known: KnownProduct | undefined
  digest: DocumentDigest | undefined
  nowMs: number
}

/** Of products that stay as they are. */
export function writeOrigins({ database, documents }: Access, { origins = [] }: MirrorChunk): void {
  for (const { productId, origins: text } of origins) {
    const key = keyOf(database, productId)
    if (key !== undefined) documents.noteOrigins(key, text)
  }
}

function placeProduct(
  { database, places }: Access,
  { productId, document, lane = 'deferred' }: ProductWrite,
  { key, known, digest, nowMs }: Placing,
): void {
  const row = known?.hasRow ? known : undefined
  const isSame = row ? (digest === undefined ? row.digest === null : sameBytes(row.digest, digest)) : !digest
  if (isSame) return
  if (known?.dead) forgetDead(database, key)
  const place = places.edit({ key, row, lane, digest, bytes: document?.length }, nowMs)
  if (!document || !digest) {
    places.written.forget(productId)
    return
  }
  const isFresh =
    place && places.fresh.add({ key, ...place, productId, digest, bytes: document.length, document })
  if (places.recent.isRead) places.recent.add(key, { document, digest })
  else if (!isFresh) places.written.add(productId, { document, digest })
}

/** Switches and keys of products that are written, and those that are noted beside them; inside a transaction. */
export function writeIndexes(
  database: Database,
  { writes, switches = [], addKeys = [], keyFields }: MirrorChunk,
): void {
  for (const { productId, switchAt } of [...writes, ...switches]) {
    if (switchAt === undefined) continue
    const key = keyOf(database, productId)
    if (key === undefined) continue
    if (switchAt === 'none') database.run('DELETE FROM switches WHERE product = ?', key)
    else database.run('INSERT OR REPLACE INTO switches (product, at) VALUES (?, ?)', key, switchAt)
  }
  for (const field of keyFields?.drop ?? []) database.run('DELETE FROM key_index WHERE field = ?', field)
  for (const { keys } of writes) {
    for (const entry of keys?.remove ?? []) {
      changeKey(database, 'DELETE FROM key_index WHERE field = ? AND value = ? AND product = ?', entry)
    }
  }
  for (const entry of [...addKeys, ...writes.flatMap(({ keys }) => keys?.add ?? [])]) {
    changeKey(database, 'INSERT OR IGNORE INTO key_index (field, value, product) VALUES (?, ?, ?)', entry)
  }
}

function changeKey(database: Database, sql: string, { field, value, productId }: KeyEntry): void {
  const key = keyOf(database, productId)
  if (key !== undefined) database.run(sql, field, value, key)
}

/** Products that no feed names: noted, or removed with all that is known of them. Inside a transaction. */
export function writeAbsent(
  { database, history }: Access,
  { absent, present, forget, nowMs }: NonNullable<MirrorChunk['absent']>,
): void {
  const keysOf = (ids: readonly ProductId[]) => ids.flatMap((id) => keyOf(database, id) ?? [])
  for (const key of keysOf(absent)) database.run('INSERT OR IGNORE INTO absent VALUES (?, ?)', key, nowMs)
  for (const key of keysOf(present)) database.run('DELETE FROM absent WHERE product = ?', key)
  const hasPlace = 'SELECT 1 AS found FROM sending WHERE product = ? AND lane IS NOT NULL'
  const keys = JSON.stringify(keysOf(forget).filter((key) => !database.get(hasPlace, key)))
  if (keys === '[]') return
  // Their keys may be given to others.
  while (history.hasAny) history.move()
  for (const table of [
    'documents',
    'digests',
    'edited',
    'sending',
    'dead',
    'switches',
    'key_index',
    'held_ids',
    'changed_since',
    'absent',
    'history',
  ])
    database.run(`DELETE FROM ${table} WHERE product IN (SELECT value FROM json_each(?))`, keys)
  database.run('DELETE FROM products WHERE key IN (SELECT value FROM json_each(?))', keys)
}

function readKnown(database: Database, { productId, meta, incomplete }: ProductWrite) {
  const sql = `SELECT p.key, p.meta IS ? AND p.missing IS ? AS keepsRow, s.hasRow, s.lane, s.number, s.since, s.known,
      s.digest, s.acknowledged, d.digest AS dead
    FROM products p JOIN standing s ON s.product = p.key LEFT JOIN dead d ON d.product = p.key WHERE p.id = ?`
  return database.get<KnownProduct>(sql, meta, incomplete ?? null, productId)
}

/** The same of a product that the import has read: only what delivery changes meanwhile is read again. */
function readPlaced(database: Database, { key, digest, keepsRow }: ProductBefore): KnownProduct {
  const sql = `SELECT s.product IS NOT NULL OR ?2 IS NOT NULL AS hasRow, s.lane, s.number, s.since, s.known,
      iif(s.product IS NULL, ?2, s.acknowledged) AS acknowledged, d.digest AS dead
    FROM (SELECT ?1 AS key) p LEFT JOIN sending s ON s.product = p.key LEFT JOIN dead d ON d.product = p.key`
  const placed = database.get<Omit<KnownProduct, 'key' | 'digest' | 'keepsRow'>>(sql, key, digest)
  if (!placed) throw damaged(database.file)
  return { ...placed, key, digest, keepsRow: Number(keepsRow) }
}
