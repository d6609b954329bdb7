import type { Database } from '../lib/database.ts'
import { StorageError } from '../lib/errors.ts'
import {
  type CallEnd,
  type ConsentCall,
  type ConsentChange,
  type ConsentRow,
  type ConsentStep,
  changeOf,
  mayBeSent,
  rowAfter,
  rowDecided,
  rowParked,
  rowWith,
  waitingLetter,
} from './row.ts'

const format = 1

/**
 * `consents` has a row for each address. `consent`, `email` and `position` are those of its newest record. `known`: what
 * the endpoint holds for certain; null: it was never told, or a call may have changed it. A row has a place (lane,
 * since) while it is due; a letter while it waits for the operator; neither when it is settled.
 *
 * settled → (a record that says something else) → due → (its call is taken) → settled, or → (refused, or a grant that
 * was not confirmed in time) → letter → (retry, or a newer record) → due. A call that runs stands in `attempted`: ms of
 * the first call of this record whose outcome is not known. `refused`: its letter may be taken back.
 */
const schema = `
CREATE TABLE consents (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, email TEXT, consent INTEGER, position TEXT NOT NULL,
  known INTEGER, attempted INTEGER, lane INTEGER, since INTEGER, letter TEXT, refused INTEGER
) STRICT;
CREATE INDEX places ON consents (lane, since) WHERE lane IS NOT NULL;
CREATE INDEX letters ON consents (number) WHERE letter IS NOT NULL;
CREATE INDEX refusals ON consents (number) WHERE refused IS NOT NULL;
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID`

const write = `INSERT INTO consents (id, email, consent, position, known, attempted, lane, since, letter, refused)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
  (email, consent, position, known, attempted, lane, since, letter, refused) = (excluded.email, excluded.consent,
  excluded.position, excluded.known, excluded.attempted, excluded.lane, excluded.since, excluded.letter, excluded.refused)`

/** Whether the tables are there. Throws a StorageError where they are of another version. */
export function hasConsentTables(database: Database): boolean {
  const found = database.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0
  if (found <= format) return found === format
  throw new StorageError(
    'database-format',
    `${database.file} has format ${found}, this version knows ${format}`,
    { hint: 'Use the newer version of catalogd that wrote it' },
  )
}

/** Safe to repeat after a crash. */
export function makeConsentTables(database: Database): void {
  if (!hasConsentTables(database))
    database.transaction(() => database.exec(`${schema}; PRAGMA user_version = ${format}`))
}

interface Sending {
  nowMs: number
  horizonMs: number
}

/** The rows of consents; every method is a part of the caller's transaction. Times are epoch ms. */
export class ConsentTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  find(id: string): ConsentRow | undefined {
    return this.#database.get<ConsentRow>('SELECT * FROM consents WHERE id = ?', id)
  }

  /** Those that have been due longest, of one lane. */
  due(lane: 0 | 1, count: number): ConsentRow[] {
    const sql = 'SELECT * FROM consents WHERE lane = ? ORDER BY lane, since, number LIMIT ?'
    return this.#database.all<ConsentRow>(sql, lane, count)
  }

  /** Safe to repeat. */
  apply(step: ConsentStep, options: Parameters<typeof rowWith>[2]): ConsentChange {
    const row = this.find(step.id)
    const next = rowWith(row, step, options)
    if (next) this.write(next)
    return changeOf(row, step)
  }

  /** Marks that the call of one that is due begins. Undefined: it waits for the operator now. */
  begin(row: ConsentRow, options: Sending): ConsentCall | undefined {
    const { id, email, consent, position, known, lane, attempted } = row
    if (!mayBeSent(row, options)) {
      this.write(rowParked(row, options))
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

  /** One without a letter is left as it is. */
  settle(id: string, how: 'retry' | 'drop', nowMs: number): void {
    const row = this.find(id)
    if (row?.letter && row.consent !== null) this.write(rowDecided(row, how, nowMs))
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
    this.#database.run(`UPDATE consents ${grants}`, waitingLetter(nowMs), Number(isForeign))
  }

  /** Facts to set, or to remove (undefined). */
  remember(facts: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(facts)) {
      if (value === undefined) this.#database.run('DELETE FROM facts WHERE name = ?', name)
      else this.#database.run('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)', name, value)
    }
  }

  write(row: ConsentRow): void {
    const { id, email, consent, position, known, attempted, lane, since, letter, refused } = row
    this.#database.run(
      write,
      ...[id, email, consent, position, known, attempted, lane, since, letter, refused],
    )
  }
}
