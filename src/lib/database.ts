import { closeSync, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { explained, isDiskFull } from './database-failure.ts'
import { StorageError } from './errors.ts'
import { privateFileMode } from './private-modes.ts'
import { syncFolderNow } from './system.ts'

/** Larger pages waste less behind documents of 1.3 KB, smaller ones less of the log; measured. */
const pageBytes = 8_192
/** Of one connection. Pages that are not here come from the operating system's cache; a mapped file would count as memory. */
const cacheKilobytes = { write: 8_192, read: 2_048 }
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
    return explained(file, () => {
      const isNew = access === 'write' && !existsSync(file)
      // SQLite gives its other files the mode of this one.
      if (isNew) closeSync(openSync(file, 'a', privateFileMode))
      const connection = new DatabaseSync(file, { readOnly: access === 'read', timeout: busyMs })
      const database = new Database(file, connection)
      try {
        database.#prepare(access)
        // The name of the file is durable with its folder alone.
        if (isNew) syncFolderNow(dirname(file))
        return database
      } catch (error) {
        connection.close()
        throw error
      }
    })
  }

  /** For reading. While nobody has made tables in the file, which has to be there, one in memory takes its place. */
  static openMade(file: string): Database {
    const database = Database.open({ file, access: 'read' })
    try {
      if (database.format > 0) return database
    } catch (error) {
      database[Symbol.dispose]()
      throw error
    }
    database[Symbol.dispose]()
    return Database.inMemory()
  }

  /** Empty; gone when it is closed. */
  static inMemory(): Database {
    return new Database('memory', new DatabaseSync(':memory:'))
  }

  /** Of the tables, as whoever made them numbered it; 0 where there are none. */
  get format(): number {
    return this.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0
  }

  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#try(() => this.#statement(sql).get(...values) as Row | undefined)
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#try(() => this.#statement(sql).all(...values) as Row[])
  }

  /** Each row as an array of its columns: for statements that read much, two thirds of the time. */
  rows<Row extends readonly unknown[]>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#try(() => {
      const statement = this.#statement(sql)
      statement.setReturnArrays(true)
      return statement.all(...values) as unknown as Row[]
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
    this.#connection.exec(`PRAGMA mmap_size = 0; PRAGMA cache_size = -${cacheKilobytes[access]}`)
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
    return explained(this.file, work)
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
    if (!isDiskFull(cause)) throw cause
    const hint = 'Free space there, or back up to another disk'
    throw new StorageError('disk-full', `${to} cannot be written, because the disk is full`, { hint, cause })
  }
}
