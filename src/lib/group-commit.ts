import type { DatabaseSync } from 'node:sqlite'
import { transaction } from './database.ts'
import { explained } from './database-failure.ts'
import { StorageError } from './errors.ts'

/** What comes within so long shares a transaction while more is likely to come. */
const gatherMs = 2

interface Waiting {
  change: () => unknown
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/**
 * Durable changes of a database by the thread's many tasks: what is asked for in one turn of the event loop shares a
 * transaction, and is answered when that is durable. All of it happened, or nothing. A commit blocks the thread, for as
 * long as the disk needs to sync some pages.
 *
 * open → closed (what waited then is committed, what comes later is refused).
 */
export class GroupCommit implements Disposable {
  readonly #db: DatabaseSync
  readonly #path: string
  /** Whether others are likely to ask within a moment, so that it is worth waiting for them. */
  isBusy: () => boolean = () => false
  /** Part of the next transaction, whatever else is in it. */
  beforeEach: () => void = () => {}
  #waiting: Waiting[] = []
  #scheduled: { isTimer: boolean; cancel: () => void } | undefined
  #isClosed = false

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
  }

  /** `change` only reads and writes the database. Rejects with a StorageError when the disk refuses it. */
  commit<T>(change: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject })
      this.#schedule()
    })
  }

  [Symbol.dispose](): void {
    this.#flush()
    this.#isClosed = true
  }

  /** At the end of this turn, or when those who are busy have come; some milliseconds later at most. */
  #schedule(): void {
    const isBusy = this.isBusy()
    if (this.#scheduled && (isBusy || !this.#scheduled.isTimer)) return
    this.#scheduled?.cancel()
    if (isBusy) {
      const timer = setTimeout(() => this.#flush(), gatherMs)
      this.#scheduled = { isTimer: true, cancel: () => clearTimeout(timer) }
    } else {
      const immediate = setImmediate(() => this.#flush())
      this.#scheduled = { isTimer: false, cancel: () => clearImmediate(immediate) }
    }
  }

  #flush(): void {
    this.#scheduled?.cancel()
    this.#scheduled = undefined
    const waiting = this.#waiting
    this.#waiting = []
    if (waiting.length === 0) return
    try {
      if (this.#isClosed)
        throw new StorageError('database', `${this.#path} was closed before a change was durable`)
      const results = explained(this.#path, () =>
        transaction(this.#db, () => {
          this.beforeEach()
          return waiting.map(({ change }) => change())
        }),
      )
      for (const [index, { resolve }] of waiting.entries()) resolve(results[index] as never)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
