import type { Database } from '../lib/database.ts'
import { StorageError } from '../lib/errors.ts'
import { damaged } from './digest.ts'

/** Raised with every change of the tables; `migrations` leads from each older one to the next. */
const formatVersion = 2

/**
 * Of products that have changed, the newest changes first; and of calls what was asked and answered. `total`: bytes of
 * `ids` up to this call.
 */
const story = `
  CREATE TABLE history (product INTEGER PRIMARY KEY, entries BLOB NOT NULL);
  CREATE TABLE calls (
    number INTEGER PRIMARY KEY, began INTEGER NOT NULL, ended INTEGER NOT NULL, call TEXT NOT NULL, ids BLOB NOT NULL,
    total INTEGER NOT NULL);
`

/**
 * A product has a row here while it has a place, and while something else than the digest of its newest document is
 * acknowledged; with NULL in the place of a digest where it has no document any more. A place is (lane, number, since);
 * number is NULL while a deferred change waits. acknowledged: NULL never, empty in doubt. known: Redis may know the place
 * by an earlier number. digest and bytes are those of the document.
 */
const sending = `
  CREATE TABLE sending (
    product INTEGER PRIMARY KEY, lane INTEGER, number INTEGER, since INTEGER, known INTEGER,
    digest BLOB, bytes INTEGER, acknowledged BLOB);
  CREATE INDEX places ON sending (lane, number, since) WHERE lane IS NOT NULL;
`

/**
 * See `Documents`: every product stands in `documents` and `digests`, and in `edited` where that is newer. origins: which
 * records the fields come from.
 */
const edited = `
  CREATE TABLE digests (product INTEGER PRIMARY KEY, digest BLOB, origins TEXT);
  CREATE TABLE edited (product INTEGER PRIMARY KEY, digest BLOB, origins TEXT, document BLOB, partial BLOB);

  -- How every product stands, whether it has a row in sending or not; hasRow: it has ever had a document.
  CREATE VIEW standing AS SELECT g.product, lane, number, since, known,
      iif(e.product IS NULL, g.digest, e.digest) AS digest,
      iif(s.product IS NULL, iif(e.product IS NULL, g.digest, e.digest), acknowledged) AS acknowledged,
      s.product IS NOT NULL OR iif(e.product IS NULL, g.digest, e.digest) IS NOT NULL AS hasRow
    FROM digests g LEFT JOIN edited e ON e.product = g.product LEFT JOIN sending s ON s.product = g.product;
`

/**
 * What is read without documents stands apart from them: a scan of `products` or `digests` reads a twentieth of the bytes.
 * Lanes are numbered as in `lanes`; times are ms since the epoch.
 */
const tables = `
  CREATE TABLE products (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, meta TEXT NOT NULL, missing TEXT);
  CREATE INDEX incomplete ON products (key) WHERE missing IS NOT NULL;
  CREATE TABLE documents (product INTEGER PRIMARY KEY, document BLOB, partial BLOB);

  ${sending}
  ${edited}
  ${story}
  CREATE TABLE dead (product INTEGER PRIMARY KEY, digest BLOB NOT NULL, at TEXT NOT NULL, letter TEXT NOT NULL);
  -- Documents that the operator gave up before they were refused (again).
  CREATE TABLE dropped (id TEXT PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID;

  CREATE TABLE switches (product INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  CREATE INDEX switches_at ON switches (at);
  CREATE TABLE key_index (
    field TEXT, value TEXT, product INTEGER, PRIMARY KEY (field, value, product)) WITHOUT ROWID;
  CREATE TABLE held_ids (feed TEXT, product INTEGER, PRIMARY KEY (feed, product)) WITHOUT ROWID;

  -- Products that no feed names, since when they were found so.
  CREATE TABLE absent (product INTEGER PRIMARY KEY, since INTEGER NOT NULL);

  -- Products that files of a feed changed since its last full one.
  CREATE TABLE changed_since (feed TEXT, product INTEGER, PRIMARY KEY (feed, product)) WITHOUT ROWID;

  CREATE TABLE imports (key TEXT PRIMARY KEY, scope TEXT NOT NULL, sequence INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX imports_of_scope ON imports (scope, sequence);
  -- Whatever is one value a name: see FactKind.
  CREATE TABLE facts (kind TEXT, name TEXT, value, PRIMARY KEY (kind, name)) WITHOUT ROWID;
`

/** From the version that is the key to the next one; runs in one transaction. */
const migrations: Readonly<Record<number, (database: Database) => void>> = {
  1: (database) =>
    database.exec(`
      DROP INDEX places;
      ALTER TABLE sending RENAME TO sent;
      ${sending}
      ${edited}
      INSERT INTO digests SELECT d.product, s.digest, NULL FROM documents d LEFT JOIN sent s ON s.product = d.product;
      INSERT INTO sending SELECT s.product, lane, number, since, known, digest, coalesce(length(document), 0), acknowledged
        FROM sent s LEFT JOIN documents d ON d.product = s.product
        WHERE lane IS NOT NULL OR digest IS NULL OR acknowledged IS NOT digest;
      DROP TABLE sent;
      ${story}`),
}

export type FactKind =
  | 'identity'
  | 'held'
  | 'full-as-of'
  | 'progress'
  | 'key-field'
  | 'known'
  | 'notice'
  | 'calls'
  /** See `History`. */
  | 'changes'
  /** `count:<claim>`: counters of an unfinished import. */
  | `count:${string}`

/** A mirror of a later version is refused: what it holds beyond this one would be lost. */
function checkFormatVersion(database: Database): void {
  const version = database.format
  if (version <= formatVersion) return
  throw new StorageError(
    'mirror-newer',
    `${database.file} was written by a later version of catalogd (format ${version}, this one knows ${formatVersion})`,
    { hint: 'Install that version again, or put a backup of this one back: catalogd restore <folder>' },
  )
}

/** Who only reads brings nothing up to date. */
export function checkReadable(database: Database): void {
  checkFormatVersion(database)
  const { file, format } = database
  if (format === 0 || format === formatVersion) return
  throw new StorageError(
    'mirror-older',
    `${file} was written by an earlier version of catalogd (format ${format})`,
    {
      hint: 'Start catalogd: it brings the file up to date, and keeps all that is in it',
    },
  )
}

/** Makes the tables, or brings those of an earlier version up to date. Safe to repeat after a crash. */
export function prepareTables(database: Database): void {
  checkFormatVersion(database)
  for (let version = database.format; version < formatVersion; version += 1) {
    database.transaction(() => {
      if (version === 0) database.exec(tables)
      else migrations[version]?.(database)
      database.exec(`PRAGMA user_version = ${version === 0 ? formatVersion : version + 1}`)
    })
    if (version === 0) return
  }
}

/**
 * Throws where the disk has changed tables or indexes: a row that an index hides would wait for ever. Documents are held
 * against their digests when they are read; without them a million products take 0.2 to 0.4 s.
 */
export function checkTables(database: Database): void {
  const others = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'documents'"
  for (const { name } of database.all<{ name: string }>(others)) {
    // Each id of the index would be looked up, which takes ten times as long.
    const pragma = name === 'products' ? 'quick_check' : 'integrity_check'
    const [found] = Object.values(database.get<Record<string, string>>(`PRAGMA ${pragma}(${name})`) ?? {})
    if (found !== 'ok') throw damaged(database.file)
  }
}

/** A file was lost, or the state folder was put together from parts: an empty mirror would send everything as new. */
export function missingMirror(file: string): StorageError {
  return new StorageError(
    'mirror-missing',
    `${file} is missing, although files were imported into it before`,
    {
      hint: 'Put the last backup back: catalogd restore <folder>; after an update from version 1, start catalogd first',
    },
  )
}
