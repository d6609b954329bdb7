import type { Clock } from '../lib/clock.ts'
import type { Database } from '../lib/database.ts'
import { watchFile } from '../lib/database-file.ts'
import type { StorageError } from '../lib/errors.ts'
import type { CallState } from './reader.ts'
import type { ConsentChange, ConsentStep } from './row.ts'
import { ConsentTable } from './table.ts'

/** By name: to set, or to remove (undefined). */
export type Facts = Readonly<Record<string, string | undefined>>

interface StoreOptions {
  database: Database
  clock: Clock
  /** The file was removed or replaced: nothing that is written counts any more. */
  onLost: (error: StorageError) => void
}

/** A catalog's consents in the process that holds the state lock: the one writer. */
export class ConsentStore extends ConsentTable implements AsyncDisposable {
  /** Changed at once and in place, then `touch`: written with the next transaction. */
  readonly callState: CallState
  /** Everything that was accepted before this process began is applied: what is due is the newest state. */
  isCaughtUp = false
  /** Something may be due. */
  onDue: () => void = () => {}
  readonly #database: Database
  readonly #clock: Clock
  /** Grants and retries that were accepted before wait for the operator. */
  readonly #waitsBefore: number
  readonly #watch: Disposable
  #isTouched = false

  constructor({ database, clock, onLost }: StoreOptions) {
    super(database)
    this.callState = this.calls
    this.#database = database
    this.#clock = clock
    this.#waitsBefore = Number(this.fact('waits-before') ?? 0)
    this.#watch = watchFile(database.file, onLost)
  }

  caughtUp(): void {
    this.isCaughtUp = true
    this.onDue()
  }

  touch(): void {
    this.#isTouched = true
  }

  /** One durable transaction: all of it, or nothing. It blocks the thread for as long as the disk needs. */
  commit<T>(change: () => T): T {
    const done = this.#database.transaction(() => {
      const result = change()
      if (this.#isTouched) this.remember({ calls: JSON.stringify(this.callState) })
      return result
    })
    this.#isTouched = false
    return done
  }

  /** Records, and the facts that follow from what each of them changes. */
  apply(steps: readonly ConsentStep[], factsOf: (changes: readonly ConsentChange[]) => Facts): void {
    const options = { nowMs: this.#clock.now(), waitsBefore: this.#waitsBefore }
    this.commit(() => this.remember(factsOf(steps.map((step) => this.applyStep(step, options)))))
    if (steps.length > 0) this.onDue()
  }

  /** The operator's decision about dead letters; others are left as they are. Safe to repeat. */
  settle(how: 'retry' | 'drop', ids: readonly string[], sequence: number): void {
    // Decided before the table was restored: that grant may have been taken, and withdrawn, since.
    if (how === 'retry' && sequence < this.#waitsBefore) return
    this.commit(() => {
      for (const id of ids) this.settleLetter(id, how, this.#clock.now())
    })
    this.onDue()
  }

  /** The operator's decision about all calls. */
  pause(decision: 'pause' | 'resume'): void {
    const { pauses } = this.callState
    const since = new Date(this.#clock.now()).toISOString()
    if (decision === 'pause') pauses.operator ??= { since, hint: 'catalogd resume lets calls begin again' }
    else {
      delete pauses.operator
      delete pauses['refuses-everything']
    }
    this.touch()
    this.commit(() => undefined)
    this.onDue()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]()
    this[Symbol.dispose]()
  }
}
