import type { Clock } from '../lib/clock.ts'
import type { Database } from '../lib/database.ts'
import { watchFile } from '../lib/database-file.ts'
import type { StorageError } from '../lib/errors.ts'
import { type CallState, ConsentReader } from './reader.ts'
import {
  acceptedBefore,
  type CallEnd,
  type ConsentChange,
  type ConsentRow,
  type ConsentStep,
  changeOf,
  mayBeSent,
  notConfirmed,
  rowAfter,
  rowWith,
  settled,
} from './row.ts'

const columns = [
  ...(['id', 'email', 'consent', 'position', 'known', 'attempted'] as const),
  ...(['lane', 'since', 'letter', 'refused'] as const),
]
const write = `INSERT INTO consents (${columns}) VALUES (${columns.map(() => '?')})
  ON CONFLICT (id) DO UPDATE SET (${columns.slice(1)}) = (${columns.slice(1).map((column) => `excluded.${column}`)})`

/** By name: to set, or to remove (undefined). */
export type Facts = Readonly<Record<string, string | undefined>>

/**
 * A catalog's consents in the process that holds the state lock: the one writer. What says so is a transaction of its own;
 * everything else that changes rows is a part of the one that `commit` makes. Times are epoch ms.
 */
export class ConsentStore extends ConsentReader {
  /** Changed at once and in place; what has changed is written with the next transaction. */
  readonly callState: CallState
  /** Everything that was accepted before this process began is applied: what is due is the newest state. */
  isCaughtUp = false
  /** Something may be due. */
  onDue: () => void = () => {}
  readonly #clock: Clock
  readonly #watch: Disposable
  #writtenCalls = ''

  /** `onLost`: the file was removed or replaced, and nothing that is written counts any more. */
  constructor(database: Database, clock: Clock, onLost: (error: StorageError) => void) {
    super(database)
    this.callState = this.calls
    this.#clock = clock
    this.#watch = watchFile(database.file, onLost)
  }

  caughtUp(): void {
    this.isCaughtUp = true
    this.onDue()
  }

  /** One durable transaction: all of it, or nothing. It blocks the thread for as long as the disk needs. */
  commit<T>(change: () => T): T {
    const [done, calls] = this.database.transaction(() => {
      const result = change()
      const state = JSON.stringify(this.callState)
      if (state !== this.#writtenCalls) this.remember({ calls: state })
      return [result, state] as const
    })
    this.#writtenCalls = calls
    return done
  }

  /** Grants and retries that were accepted before wait for the operator. */
  get #waitsBefore(): number {
    return Number(this.fact('waits-before') ?? 0)
  }

  /** Records, and the facts that follow from what each of them changes. */
  apply(steps: readonly ConsentStep[], factsOf: (changes: readonly ConsentChange[]) => Facts): void {
    const options = { nowMs: this.#clock.now(), waitsBefore: this.#waitsBefore }
    this.commit(() => this.remember(factsOf(steps.map((step) => this.applyStep(step, options)))))
    if (steps.length > 0) this.onDue()
  }

  /**
   * The operator's decision about dead letters; others are left as they are. Retry: due again. Drop: settled, until a
   * newer record comes. Safe to repeat.
   */
  settle(how: 'retry' | 'drop', ids: readonly string[], sequence: number): void {
    // Decided before the table was restored: that grant may have been taken, and withdrawn, since.
    if (how === 'retry' && sequence < this.#waitsBefore) return
    const since = this.#clock.now()
    this.commit(() => {
      for (const row of ids.flatMap((id) => this.find(id) ?? [])) {
        if (!row.letter || row.consent === null) continue
        const place = how === 'retry' ? { lane: row.consent, since } : { known: null }
        this.write({ ...row, ...settled, attempted: null, ...place })
      }
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
    this.commit(() => undefined)
    this.onDue()
  }

  override [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]()
    super[Symbol.dispose]()
  }

  /** Those that have been due longest, of one lane. */
  due(lane: 0 | 1, count: number): ConsentRow[] {
    const sql = 'SELECT * FROM consents WHERE lane = ? ORDER BY lane, since, number LIMIT ?'
    return this.database.all<ConsentRow>(sql, lane, count)
  }

  /** Safe to repeat. */
  applyStep(step: ConsentStep, options: Parameters<typeof rowWith>[2]): ConsentChange {
    const row = this.find(step.id)
    const next = rowWith(row, step, options)
    if (next) this.write(next)
    return changeOf(row, step)
  }

  /** Marks that the call of one that is due begins. False: it waits for the operator now. */
  begin(row: ConsentRow, options: Parameters<typeof mayBeSent>[1]): boolean {
    const { nowMs, horizonMs } = options
    if (mayBeSent(row, options)) {
      const sql = 'UPDATE consents SET known = NULL, attempted = ? WHERE id = ?'
      this.database.run(sql, row.attempted ?? nowMs, row.id)
      return true
    }
    const since = new Date(row.attempted ?? 0).toISOString()
    const why = `first sent at ${since}, no answer said what became of it, and it is not repeated after ${horizonMs / 1000} s`
    this.write({ ...row, ...settled, letter: notConfirmed(why, nowMs) })
    return false
  }

  /** `sent`: as it was when its call began. */
  end(sent: ConsentRow, end: CallEnd, nowMs: number): void {
    if (end.kind === 'taken')
      this.database.run('UPDATE consents SET refused = NULL WHERE refused IS NOT NULL')
    const row = this.find(sent.id)
    if (row) this.write(rowAfter(row, sent, end, nowMs))
  }

  /** How many were refused since the last one was taken, without being named. */
  get refusedInARow(): number {
    return this.count('count(*)', 'refused IS NOT NULL')
  }

  /** Those are due again: the refusals meant something else. */
  takeBack(nowMs: number): void {
    const sql = `UPDATE consents SET letter = NULL, refused = NULL, lane = consent, since = ? WHERE refused IS NOT NULL`
    this.database.run(sql, nowMs)
  }

  /** After a crash: what was under way may have been taken. */
  hurryUnconfirmed(): void {
    this.database.run('UPDATE consents SET lane = 0 WHERE lane = 1 AND attempted IS NOT NULL')
  }

  /**
   * The table may be older than what the endpoint holds, or (`isForeign`) is about another one: revocations are sent
   * whatever it says, and grants that are due, or all of them, wait for the operator.
   */
  distrust({ isForeign, nowMs }: { isForeign: boolean; nowMs: number }): void {
    this.database.run('UPDATE consents SET known = NULL, refused = NULL, attempted = NULL')
    const revocations = 'SET lane = 0, since = ?, letter = NULL WHERE consent = 0 AND email IS NOT NULL'
    this.database.run(`UPDATE consents ${revocations}`, nowMs)
    const grants = `SET lane = NULL, since = NULL, letter = ?
      WHERE consent = 1 AND letter IS NULL AND (lane IS NOT NULL OR ?)`
    this.database.run(`UPDATE consents ${grants}`, notConfirmed(acceptedBefore, nowMs), Number(isForeign))
  }

  remember(facts: Facts): void {
    for (const [name, value] of Object.entries(facts)) {
      if (value === undefined) this.database.run('DELETE FROM facts WHERE name = ?', name)
      else this.database.run('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)', name, value)
    }
  }

  write(row: ConsentRow): void {
    this.database.run(write, ...columns.map((column) => row[column]))
  }
}
