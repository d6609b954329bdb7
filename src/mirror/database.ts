import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { StorageError } from '../lib/errors.ts'
import { privateFileMode } from '../lib/private-modes.ts'

/** Larger pages waste less behind documents of 1.3 KB, smaller ones less of the log; measured. */
const pageBytes = 8_192
/** Of one connection. Pages that are not here come from the operating system's cache; a mapped file would count as memory. */
const cacheKilobytes = 16_384
/** A reader waits for a recovery, never for a writer. */
const busyMs = 10_000

interface DatabaseOptions {
  file: string
  access: 'read' | 'write'
}

/** One connection to a SQLite file in WAL mode. What goes wrong outside the program throws a `StorageError`. */
export class Database implements Disposable {
  readonly file: string
  readonly #connection: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  private constructor(file: string, connection: DatabaseSync) {
    this.file = file
    this.#connection = connection
  }

  /** With `write` the file is made where it is missing; its folder has to be there. */
  static open({ file, access }: DatabaseOptions): Database {
    try {
      const isNew = access === 'write' && !existsSync(file)
      // SQLite gives its other files the mode of this one.
      if (isNew) closeSync(openSync(file, 'a', privateFileMode))
      const connection = new DatabaseSync(file, { readOnly: access === 'read', timeout: busyMs })
      const database = new Database(file, connection)
      try {
        database.#prepare(access)
        // The name of the file is durable with its folder alone.
        if (isNew) syncFolder(dirname(file))
        return database
      } catch (error) {
        connection.close()
        throw error
      }
    } catch (error) {
      throw asStorageError(error, file)
    }
  }

  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#try(() => this.#statement(sql).get(...values) as Row | undefined)
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#try(() => this.#statement(sql).all(...values) as Row[])
  }

  /** Row by row until `take` answers false. */
  each<Row>(sql: string, values: readonly SQLInputValue[], take: (row: Row) => boolean): void {
    this.#try(() => {
      for (const row of this.#statement(sql).iterate(...values)) if (!take(row as Row)) break
    })
  }

  /** How many rows it changed, and the key of the last that it added. */
  run(sql: string, ...values: SQLInputValue[]): { changes: number; key: number } {
    return this.#try(() => {
      const { changes, lastInsertRowid } = this.#statement(sql).run(...values)
      return { changes: Number(changes), key: Number(lastInsertRowid) }
    })
  }

  exec(sql: string): void {
    this.#try(() => this.#connection.exec(sql))
  }

  /** Durable when it returns; nothing is changed when it throws. */
  transaction<T>(work: () => T): T {
    return this.#inTransaction('BEGIN IMMEDIATE', work)
  }

  /** All reads see the same state. */
  snapshot<T>(work: () => T): T {
    return this.#inTransaction('BEGIN', work)
  }

  [Symbol.dispose](): void {
    this.#statements.clear()
    if (this.#connection.isOpen) this.#connection.close()
  }

  #inTransaction<T>(begin: string, work: () => T): T {
    return this.#try(() => {
      this.#connection.exec(begin)
      try {
        const result = work()
        this.#connection.exec('COMMIT')
        return result
      } catch (error) {
        if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK')
        throw error
      }
    })
  }

  #prepare(access: DatabaseOptions['access']): void {
    if (access === 'write') {
      this.#connection.exec(`
        PRAGMA page_size = ${pageBytes};
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA journal_size_limit = 67108864;
        PRAGMA cell_size_check = ON;`)
    }
    this.#connection.exec(`PRAGMA mmap_size = 0; PRAGMA cache_size = -${cacheKilobytes}`)
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.#connection.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #try<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw asStorageError(error, this.file)
    }
  }
}

/**
 * Writes a whole copy of a database as it is now, while its writer goes on; the writer's log grows until this returns.
 * `to` must not exist, and is not synced.
 */
export function copyDatabase(file: string, to: string): void {
  using database = Database.open({ file, access: 'read' })
  try {
    database.run('VACUUM INTO ?', to)
  } catch (cause) {
    if (!(cause instanceof StorageError) || cause.code !== 'disk-full') throw cause
    const hint = 'Free space there, or back up to another disk'
    throw new StorageError('disk-full', `${to} cannot be written, because the disk is full`, { hint, cause })
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Which file this is, whatever its name: inode and time of birth. Where a file system keeps no time of birth, none or one
 * that changes stands in its place: then the inode alone counts, as for a file that has just been made.
 */
export function fileIdentity(file: string): string {
  const { ino, birthtimeNs, ctimeNs } = statSync(file, { bigint: true })
  const hasBirth = birthtimeNs !== 0n && birthtimeNs !== ctimeNs
  return hasBirth ? `${ino}:${birthtimeNs}` : `${ino}`
}

/** False for a copy; true for a file that was moved inside its file system. */
export function isSameFile(one: string, other: string): boolean {
  const [[ino, birth], [otherIno, otherBirth]] = [one.split(':'), other.split(':')]
  return ino === otherIno && (birth === undefined || otherBirth === undefined || birth === otherBirth)
}

/** Results of SQLite by their primary codes. */
const failures: Readonly<Record<number, { code: string; found: string; hint: string }>> = {
  // Our statements are fixed: what they name is gone.
  1: {
    code: 'database-damaged',
    found: 'does not hold the tables that were made in it',
    hint: 'Check the disk, then put the last backup back: catalogd restore <folder>',
  },
  5: {
    code: 'database-busy',
    found: 'is used by another process',
    hint: 'End the process that holds it open; two catalogd must not share a state folder',
  },
  8: {
    code: 'database-read-only',
    found: 'cannot be written',
    hint: 'Let the user that runs catalogd write the file and its folder',
  },
  10: {
    code: 'database-unreadable',
    found: 'cannot be read or written',
    hint: 'Look after the disk; what was committed is on it, and catalogd goes on when it is started again',
  },
  11: {
    code: 'database-damaged',
    found: 'is damaged',
    hint: 'Check the disk, then put the last backup back: catalogd restore <folder>',
  },
  13: {
    code: 'disk-full',
    found: 'cannot grow, because the disk is full',
    hint: 'Free space on the disk of the state folder; nothing is lost, and catalogd goes on from there',
  },
  14: {
    code: 'database-unreadable',
    found: 'cannot be opened',
    hint: 'Let the user that runs catalogd read and write the file and its folder',
  },
  26: {
    code: 'database-damaged',
    found: 'is no database',
    hint: 'Check the disk, then put the last backup back: catalogd restore <folder>',
  },
}

/** An error of SQLite as an operating failure; any other as it is. */
function asStorageError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  const failure = failures[Number(error.errcode) & 0xff]
  if (!failure) return error
  const { code, found, hint } = failure
  return new StorageError(code, `${file} ${found} (${error.message})`, { hint, cause: error })
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
