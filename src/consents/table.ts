import type { DatabaseSync } from 'node:sqlite'
import { sequenceOf } from './position.ts'
import {
  type CallEnd,
  type ConsentCall,
  type ConsentLetter,
  type ConsentRow,
  type ConsentStep,
  changeOf,
  firstLane,
  grantLane,
  mayBeSent,
  rowAfter,
  unconfirmedLetter,
  waitingLetter,
} from './row.ts'

export const consentsFormat = 1

/**
 * `consents` has a row for each address. `consent`, `email` and `position` are those of its newest record. `known`: what
 * the endpoint holds for certain; null: it was never told, or a call may have changed it. A row has a place (lane,
 * since) while it is due; a letter while it waits for the operator; neither when it is settled.
 *
 * settled → (a record that says something else) → due → (its call is taken) → settled, or → (refused, or a grant that
 * was not confirmed in time) → letter → (retry, or a newer record) → due. A call that runs stands in `attempted`: ms of
 * the first call of this record whose outcome is not known. `refused`: its letter may be taken back.
 */
export const consentsSchema = `
CREATE TABLE consents (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, email TEXT, consent INTEGER, position TEXT NOT NULL,
  known INTEGER, attempted INTEGER, lane INTEGER, since INTEGER, letter TEXT, refused INTEGER
) STRICT;
CREATE INDEX places ON consents (lane, since) WHERE lane IS NOT NULL;
CREATE INDEX letters ON consents (number) WHERE letter IS NOT NULL;
CREATE INDEX refusals ON consents (number) WHERE refused IS NOT NULL;
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID`

/** The rows of consents; every method is a part of the caller's transaction. Times are epoch ms. */
export class ConsentTable {
  readonly #db: DatabaseSync
  readonly #byId
  readonly #byNumber
  readonly #put
  readonly #update
  readonly #attempt
  readonly #first
  readonly #accept
  readonly #remember
  readonly #forget

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#byId = db.prepare('SELECT * FROM consents WHERE id = ?')
    this.#byNumber = db.prepare('SELECT * FROM consents WHERE number = ?')
    this.#put = db.prepare(
      `INSERT INTO consents (id, email, consent, position, known, attempted, lane, since, letter)
      VALUES (:id, :email, :consent, :position, :known, :attempted, :lane, :since, :letter)`,
    )
    this.#update = db.prepare(
      `UPDATE consents SET email = :email, consent = :consent, position = :position, known = :known, attempted = :attempted,
      lane = :lane, since = :since, letter = :letter, refused = NULL WHERE number = :number`,
    )
    // Leaves the indexes alone.
    this.#attempt = db.prepare('UPDATE consents SET known = NULL, attempted = ? WHERE number = ?')
    this.#first = db.prepare(
      'SELECT number FROM consents WHERE lane = ? ORDER BY lane, since, number LIMIT ?',
    )
    this.#remember = db.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)')
    this.#forget = db.prepare('DELETE FROM facts WHERE name = ?')
    this.#accept = db.prepare('UPDATE consents SET refused = NULL WHERE refused IS NOT NULL')
  }

  find(id: string): ConsentRow | undefined {
    return this.#byId.get(id) as ConsentRow | undefined
  }

  /** Those that have been due longest, of one lane. */
  firstOf(lane: 0 | 1, count: number): number[] {
    return this.#first.all(lane, count).map((row) => row.number as number)
  }

  /** The newest accepted record wins, whatever order the feeds are applied in. Safe to repeat. */
  apply(
    step: ConsentStep,
    { nowMs, waitsBefore }: { nowMs: number; waitsBefore: number },
  ): ReturnType<typeof changeOf> {
    const row = this.find(step.id)
    const change = changeOf(row, step)
    if (row && change === 'passed') {
      this.#fill(row, step, nowMs)
      return change
    }
    const { id, statement, position } = step
    const { email } = statement
    const consent = statement.consent ? 1 : 0
    const known = row?.known ?? null
    const number = row ? { number: row.number } : {}
    const record = { ...number, id, email, consent, position, known, attempted: null } as const
    const letter = row?.letter ? (JSON.parse(row.letter) as ConsentLetter) : undefined
    if (known === consent) this.#write({ ...record, lane: null, since: null, letter: null })
    else if (letter?.consent === statement.consent) {
      // The very state that the endpoint refused.
      this.#write({ ...record, lane: null, since: null, letter: row?.letter ?? null })
    } else if (statement.consent && sequenceOf(position) < waitsBefore) {
      this.#write({ ...record, lane: null, since: null, letter: waitingLetter(nowMs) })
    } else {
      const lane = consent === 0 ? firstLane : grantLane
      const since = row?.lane === lane ? row.since : nowMs
      this.#write({ ...record, lane, since, letter: null })
    }
    return change
  }

  /** Of a row that only the journal told of: what its record says. */
  #fill(row: ConsentRow, { statement: { email, consent }, position }: ConsentStep, nowMs: number): void {
    // Of several records the newest has the address as it was last written.
    if (row.email !== null || row.position !== position) return
    const isDue = row.consent === null && row.attempted !== null
    const place = isDue ? ({ lane: firstLane, since: nowMs } as const) : {}
    this.#write({ ...row, ...place, email, consent: row.consent ?? (consent ? 1 : 0) })
  }

  /** Marks that its call begins. `parked`: it waits for the operator now. Undefined: it is not due any more. */
  begin(
    number: number,
    { nowMs, horizonMs }: { nowMs: number; horizonMs: number },
  ): ConsentCall | 'parked' | undefined {
    const row = this.#row(number)
    const { email, consent, lane, attempted } = row
    if (lane === null || email === null || consent === null) return undefined
    if (!mayBeSent(row, { nowMs, horizonMs })) {
      this.#write({ ...row, lane: null, since: null, letter: unconfirmedLetter(row, { nowMs, horizonMs }) })
      return 'parked'
    }
    this.#attempt.run(attempted ?? nowMs, number)
    return { ...row, email, lane, consent: consent === 1, isFirst: attempted === null }
  }

  /** Answers whether it is still, or again, due. */
  end(call: ConsentCall, end: CallEnd, nowMs: number): boolean {
    if (end.kind === 'taken') this.#accept.run()
    const row = rowAfter(this.#row(call.number), { call, end, nowMs })
    this.#write(row)
    if (end.kind === 'refused' && row.letter !== null && !end.isNamed)
      this.#db.prepare('UPDATE consents SET refused = 1 WHERE number = ?').run(row.number)
    return row.lane !== null
  }

  /** How many were refused since the last one was taken, without being named. */
  get refusedInARow(): number {
    return Number(this.#db.prepare('SELECT count(*) AS n FROM consents WHERE refused IS NOT NULL').get()?.n)
  }

  /** Those are due again: the refusals meant something else. */
  takeBack(nowMs: number): void {
    const sql = `UPDATE consents SET letter = NULL, refused = NULL, lane = consent, since = ? WHERE refused IS NOT NULL`
    this.#db.prepare(sql).run(nowMs)
  }

  /** Of one with a letter. Retry: due again. Drop: settled, until a newer record comes, whatever it says. */
  settle(id: string, how: 'retry' | 'drop', nowMs: number): void {
    const row = this.find(id)
    if (!row?.letter || row.consent === null) return
    const place =
      how === 'retry'
        ? ({ lane: row.consent, since: nowMs } as const)
        : { lane: null, since: null, known: null }
    this.#write({ ...row, ...place, letter: null, attempted: null })
  }

  /** After a crash: what was under way may have been taken. */
  hurryUnconfirmed(): void {
    this.#db.prepare(`UPDATE consents SET lane = ${firstLane} WHERE lane = 1 AND attempted IS NOT NULL`).run()
  }

  /**
   * The table may be older than what the endpoint holds, or (`isForeign`) is about another one: revocations are sent
   * whatever it says, and grants that are due, or all of them, wait for the operator.
   */
  distrust({ isForeign, nowMs }: { isForeign: boolean; nowMs: number }): void {
    this.#db.exec(`UPDATE consents SET known = NULL, refused = NULL, attempted = NULL`)
    this.#db
      .prepare(
        `UPDATE consents SET lane = ${firstLane}, since = ?, letter = NULL WHERE consent = 0 AND email IS NOT NULL`,
      )
      .run(nowMs)
    this.#db
      .prepare(
        `UPDATE consents SET lane = NULL, since = NULL, letter = ? WHERE consent = 1 AND letter IS NULL AND (lane IS NOT NULL OR ?)`,
      )
      .run(waitingLetter(nowMs), Number(isForeign))
  }

  /** Facts to set, or to remove (undefined). */
  remember(facts: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(facts)) {
      if (value === undefined) this.#forget.run(name)
      else this.#remember.run(name, value)
    }
  }

  #row(number: number): ConsentRow {
    return this.#byNumber.get(number) as unknown as ConsentRow
  }

  #write(row: Omit<ConsentRow, 'number'> & { number?: number }): void {
    const { number, id, email, consent, position, known, attempted, lane, since, letter } = row
    const values = { email, consent, position, known, attempted, lane, since, letter }
    if (number === undefined) this.#put.run({ id, ...values })
    else this.#update.run({ number, ...values })
  }
}
