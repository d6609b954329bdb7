import { closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StorageError, systemErrorCode } from './errors.ts'
import { privateFileMode } from './private-modes.ts'

/** Primary result codes of SQLite that something outside the program causes: a disk that is full, a damaged file … */
const operatingCodes: ReadonlyMap<number, string> = new Map([
  [5, 'another process has it locked'],
  [8, 'it cannot be written'],
  [10, 'the disk failed'],
  [11, 'it is damaged'],
  [13, 'the disk is full'],
  [14, 'it cannot be opened'],
  [26, 'it is no database'],
])

const lookAtFileEveryMs = 2_000

interface DatabaseOptions {
  path: string
  /** Of the tables; stands in the file. */
  format: number
  /** SQL that makes an empty file one of this format. */
  schema: string
}

/**
 * Opens a database for its one writer; every commit is durable when it returns. One that is missing is created, for this
 * user alone. `isNew`: it held no tables. Throws a StorageError.
 */
export function openDatabase({ path, format, schema }: DatabaseOptions): {
  db: DatabaseSync
  isNew: boolean
} {
  // SQLite gives its log and its shared memory the mode of this file.
  closeSync(openSync(path, 'a', privateFileMode))
  return explained(path, () => {
    const db = new DatabaseSync(path)
    try {
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
      const found = readFormat(db)
      if (found !== 0) requireFormat({ path, format }, found)
      else transaction(db, () => db.exec(`${schema}; PRAGMA user_version = ${format}`))
      return { db, isNew: found === 0 }
    } catch (error) {
      db.close()
      throw error
    }
  })
}

/** For reading only, beside its writer; undefined: there is no such file, or nothing in it yet. Throws a StorageError. */
export function openDatabaseReader({
  path,
  format,
}: Omit<DatabaseOptions, 'schema'>): DatabaseSync | undefined {
  if (!statSync(path, { throwIfNoEntry: false })) return undefined
  return explained(path, () => {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
    const found = readFormat(db)
    if (found === format) return db
    db.close()
    if (found !== 0) requireFormat({ path, format }, found)
    return undefined
  })
}

/** All of it or nothing; durable when it returns. There is no await inside. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    // A failed COMMIT may have ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Runs `work` and makes StorageErrors of what the disk or the file is to blame for. */
export function explained<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = systemErrorCode(error) === 'ERR_SQLITE_ERROR' && (error as { errcode?: number }).errcode
    const reason = typeof code === 'number' ? operatingCodes.get(code & 0xff) : undefined
    if (reason === undefined) throw error
    const hint = 'Look at the disk; a damaged file has to be restored from a backup'
    throw new StorageError('database', `${path} cannot be used: ${reason}`, { hint, cause: error })
  }
}

/** Tells a file from its copies, and from one that took its place: inode and time of birth, where the disk keeps one. */
export function fileIdentity(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true })
  return birthtimeNs > 0n ? `${ino}:${birthtimeNs}` : String(ino)
}

/** Tells once when the file is removed or replaced: nothing that is written then counts. */
export function watchFile(path: string, onLost: (error: StorageError) => void): Disposable {
  const identity = fileIdentity(path)
  const look = () => {
    try {
      if (fileIdentity(path) === identity) return
    } catch {
      // It is gone.
    }
    clearInterval(timer)
    const hint = 'It starts again; what was put there has to be what you want'
    onLost(new StorageError('database', `${path} was removed or replaced while it was used`, { hint }))
  }
  const timer = setInterval(look, lookAtFileEveryMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

function readFormat(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version)
}

function requireFormat({ path, format }: Pick<DatabaseOptions, 'path' | 'format'>, found: number): void {
  if (found === format) return
  throw new StorageError('database-format', `${path} has format ${found}, this version knows ${format}`, {
    hint: found > format ? 'Use the newer version of catalogd that wrote it' : 'Migrate it first',
  })
}
