import type { Database } from '../lib/database.ts'
import { ConsentReader } from './reader.ts'
import {
  acceptedBefore,
  type CallEnd,
  type ConsentCall,
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

interface Sending {
  nowMs: number
  horizonMs: number
}

/** How the rows of consents change; every method is a part of the caller's transaction. Times are epoch ms. */
export class ConsentTable extends ConsentReader {
  readonly #database: Database

  constructor(database: Database) {
    super(database)
    this.#database = database
  }

  /** Those that have been due longest, of one lane. */
  due(lane: 0 | 1, count: number): ConsentRow[] {
    const sql = 'SELECT * FROM consents WHERE lane = ? ORDER BY lane, since, number LIMIT ?'
    return this.#database.all<ConsentRow>(sql, lane, count)
  }

  /** Safe to repeat. */
  applyStep(step: ConsentStep, options: Parameters<typeof rowWith>[2]): ConsentChange {
    const row = this.find(step.id)
    const next = rowWith(row, step, options)
    if (next) this.write(next)
    return changeOf(row, step)
  }

  /** Marks that the call of one that is due begins. Undefined: it waits for the operator now. */
  begin(row: ConsentRow, options: Sending): ConsentCall | undefined {
    const { id, email, consent, position, known, lane, attempted } = row
    if (!mayBeSent(row, options)) {
      const since = new Date(attempted ?? 0).toISOString()
      const why = `first sent at ${since}, no answer said what became of it, and it is not repeated after ${options.horizonMs / 1000} s`
      this.write({ ...row, ...settled, letter: notConfirmed(why, options.nowMs) })
      return undefined
    }
    const sql = 'UPDATE consents SET known = NULL, attempted = ? WHERE id = ?'
    this.#database.run(sql, attempted ?? options.nowMs, id)
    const isFirst = attempted === null
    return { id, email: email ?? '', consent: consent === 1, position, known, lane, isFirst }
  }

  end(call: ConsentCall, end: CallEnd, nowMs: number): void {
    if (end.kind === 'taken')
      this.#database.run('UPDATE consents SET refused = NULL WHERE refused IS NOT NULL')
    const row = this.find(call.id)
    if (row) this.write(rowAfter(row, call, end, nowMs))
  }

  /** How many were refused since the last one was taken, without being named. */
  get refusedInARow(): number {
    const sql = 'SELECT count(*) AS count FROM consents WHERE refused IS NOT NULL'
    return this.#database.get<{ count: number }>(sql)?.count ?? 0
  }

  /** Those are due again: the refusals meant something else. */
  takeBack(nowMs: number): void {
    const sql = `UPDATE consents SET letter = NULL, refused = NULL, lane = consent, since = ? WHERE refused IS NOT NULL`
    this.#database.run(sql, nowMs)
  }

  /** Retry: due again. Drop: settled, until a newer record comes. One without a letter is left as it is. */
  settleLetter(id: string, how: 'retry' | 'drop', nowMs: number): void {
    const row = this.find(id)
    if (!row?.letter || row.consent === null) return
    const place = how === 'retry' ? { lane: row.consent, since: nowMs } : { known: null }
    this.write({ ...row, ...settled, attempted: null, ...place })
  }

  /** After a crash: what was under way may have been taken. */
  hurryUnconfirmed(): void {
    this.#database.run('UPDATE consents SET lane = 0 WHERE lane = 1 AND attempted IS NOT NULL')
  }

  /**
   * The table may be older than what the endpoint holds, or (`isForeign`) is about another one: revocations are sent
   * whatever it says, and grants that are due, or all of them, wait for the operator.
   */
  distrust({ isForeign, nowMs }: { isForeign: boolean; nowMs: number }): void {
    this.#database.run('UPDATE consents SET known = NULL, refused = NULL, attempted = NULL')
    const revocations = 'SET lane = 0, since = ?, letter = NULL WHERE consent = 0 AND email IS NOT NULL'
    this.#database.run(`UPDATE consents ${revocations}`, nowMs)
    const grants = `SET lane = NULL, since = NULL, letter = ?
      WHERE consent = 1 AND letter IS NULL AND (lane IS NOT NULL OR ?)`
    this.#database.run(`UPDATE consents ${grants}`, notConfirmed(acceptedBefore, nowMs), Number(isForeign))
  }

  /** Facts to set, or to remove (undefined). */
  remember(facts: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(facts)) {
      if (value === undefined) this.#database.run('DELETE FROM facts WHERE name = ?', name)
      else this.#database.run('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)', name, value)
    }
  }

  write(row: ConsentRow): void {
    this.#database.run(write, ...columns.map((column) => row[column]))
  }
}
