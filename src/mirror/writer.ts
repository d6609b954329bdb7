import { randomUUID } from 'node:crypto'
import type { Database } from '../lib/database.ts'
import { unlessFull } from '../lib/database-failure.ts'
import { StorageError } from '../lib/errors.ts'
import { readFact, writeFact } from './facts.ts'

/**
 * The last process that opened the mirror for writing is its one writer. One that was suspended, and lost the lock of the
 * state folder to another meanwhile, writes nothing more when it wakes: what it remembers of the file is of before.
 */
export class Writer {
  readonly #database: Database
  readonly #id = randomUUID()
  /** Of SQLite: another number means that another connection may have written. */
  #version: number | undefined
  /** That this process is the writer is durable. */
  #isNoted = false

  constructor(database: Database) {
    this.#database = database
    // On a full disk it is noted with the first change that has room.
    unlessFull(() => {
      database.transaction(() => this.check())
      this.#isNoted = true
    })
  }

  /** Inside a transaction, or before what trusts the memory of this process. Throws where another one is the writer. */
  check(): void {
    const version = this.#database.get<{ data_version: number }>('PRAGMA data_version')?.data_version
    if (version === this.#version) return
    if (readFact<string>(this.#database, 'identity', 'writer') === this.#id) {
      this.#version = version
      this.#isNoted = true
    } else if (this.#isNoted) throw takenOver(this.#database.file)
    else writeFact(this.#database, 'identity', 'writer', this.#id)
  }
}

function takenOver(file: string): StorageError {
  return new StorageError('mirror-taken', `${file} is written by another process`, {
    hint: 'It took over while this one was suspended; start this one again to stand by',
  })
}
