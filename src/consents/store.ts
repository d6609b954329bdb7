import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../lib/clock.ts'
import { watchFile } from '../lib/database-file.ts'
import type { StorageError } from '../lib/errors.ts'
import { GroupCommit } from '../lib/group-commit.ts'
import { type CallState, ConsentReader } from './reader.ts'
import type { ConsentStep, changeOf } from './row.ts'
import { ConsentTable } from './table.ts'

/** By name: to set, or to remove (undefined). */
export type Facts = Readonly<Record<string, string | undefined>>

interface StoreOptions {
  db: DatabaseSync
  path: string
  clock: Clock
  /** The file was removed or replaced: nothing that is written counts any more. */
  onLost: (error: StorageError) => void
}

/** A catalog's consents in the process that holds the state lock: the one writer. */
export class ConsentStore extends ConsentReader implements AsyncDisposable {
  readonly table: ConsentTable
  readonly commits: GroupCommit
  /** Changed at once and in place, then `touch`: written with the next transaction. */
  readonly callState: CallState
  /** Something may be due. */
  onDue: () => void = () => {}
  readonly #clock: Clock
  readonly #waitsBefore: number
  readonly #watch: Disposable
  #isTouched = false
  #isCaughtUp = false

  constructor({ db, path, clock, onLost }: StoreOptions) {
    super(db, path)
    this.table = new ConsentTable(db)
    this.commits = new GroupCommit(db, path)
    this.commits.beforeEach = () => {
      if (this.#isTouched) this.table.remember({ calls: JSON.stringify(this.callState) })
      this.#isTouched = false
    }
    this.callState = this.calls
    this.#clock = clock
    this.#waitsBefore = Number(this.fact('waits-before') ?? 0)
    this.#watch = watchFile(path, onLost)
  }

  /** Everything that was accepted before this process began is applied: what is due is the newest state. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp
  }

  caughtUp(): void {
    this.#isCaughtUp = true
    this.onDue()
  }

  touch(): void {
    this.#isTouched = true
  }

  /** One transaction of records, and of the facts that follow from what each of them changes. */
  async apply(
    steps: readonly ConsentStep[],
    factsOf: (changes: readonly ReturnType<typeof changeOf>[]) => Facts,
  ): Promise<void> {
    const waitsBefore = this.#waitsBefore
    await this.commits.commit(() => {
      const nowMs = this.#clock.now()
      this.table.remember(factsOf(steps.map((step) => this.table.apply(step, { nowMs, waitsBefore }))))
    })
    if (steps.length > 0) this.onDue()
  }

  /** The operator's decision about dead letters; others are left as they are. Safe to repeat. */
  async settle(how: 'retry' | 'drop', ids: readonly string[]): Promise<void> {
    await this.commits.commit(() => {
      for (const id of ids) this.table.settle(id, how, this.#clock.now())
    })
    this.onDue()
  }

  /** The operator's decision about all calls. */
  async pause(decision: 'pause' | 'resume'): Promise<void> {
    const { pauses } = this.callState
    const since = new Date(this.#clock.now()).toISOString()
    if (decision === 'pause') pauses.operator ??= { since, hint: 'catalogd resume lets calls begin again' }
    else {
      delete pauses.operator
      delete pauses['refuses-everything']
    }
    this.touch()
    await this.commits.commit(() => undefined)
    this.onDue()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]()
    this.commits[Symbol.dispose]()
    this[Symbol.dispose]()
  }
}
