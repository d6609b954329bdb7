import { createHmac, createSecretKey } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ConsentId } from '../lib/brand.ts'
import { Database } from '../lib/database.ts'
import { StorageError } from '../lib/errors.ts'
import type { PauseReason } from '../outbox/model.ts'
import type { DeliveryOverview, OutboxOverview, Pause } from '../outbox/overview.ts'
import type { ConsentLetter, ConsentRow } from './row.ts'

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

/** In the folder of a catalog, `state/<catalog>`. */
export const consentsFileName = 'consents.db'

/** How calls stand: what outlives the process, though not each change of it at once. */
export interface CallState extends Pick<DeliveryOverview, 'failuresInARow' | 'lastFailure' | 'inFlight'> {
  pauses: Partial<Record<PauseReason, Omit<Pause, 'reason'>>>
  /** No call starts before then (epoch ms), and why. */
  holdUntilMs: number
  holdReason?: 'throttled' | 'failing'
  counters: Record<string, number>
}

export type DeadConsent = ConsentLetter & { id: ConsentId; email: string; consent: boolean }

/** The consents of a catalog as everybody may read them, beside the process that writes them. Synchronous and quick. */
export class ConsentReader implements Disposable {
  protected readonly database: Database
  #secret: ReturnType<typeof createSecretKey> | undefined

  /** Makes the tables where there are none; safe to repeat after a crash. Throws a StorageError where they are of a later version. */
  constructor(database: Database) {
    this.database = database
    const { file, format: found } = database
    if (found === 0) database.transaction(() => database.exec(`${schema}; PRAGMA user_version = ${format}`))
    if (found <= format) return
    database[Symbol.dispose]()
    const hint = 'Use the newer version of catalogd that wrote it'
    const problem = `${file} has format ${found}, this version knows ${format}`
    throw new StorageError('database-format', problem, { hint })
  }

  /** Of `state/<catalog>`; empty where no consent was ever taken in. Creates nothing. */
  static open(dir: string): ConsentReader {
    const file = join(dir, consentsFileName)
    return new ConsentReader(existsSync(file) ? Database.openMade(file) : Database.inMemory())
  }

  /**
   * What stands for an address in all that people see: the same for spellings that differ in case or surrounding blanks.
   * Its key stands in the database, which holds the addresses themselves, too, and nowhere else.
   */
  idOf(email: string): ConsentId {
    // Made once: making it of the bytes for each address costs more than the hash.
    this.#secret ??= createSecretKey(this.fact('key') ?? '', 'hex')
    const hash = createHmac('sha256', this.#secret).update(email.trim().toLowerCase()).digest()
    return hash.subarray(0, 16).toString('base64url') as ConsentId
  }

  fact(name: string): string | undefined {
    return this.database.get<{ value: string }>('SELECT value FROM facts WHERE name = ?', name)?.value
  }

  /** The last accept sequence of the feed that is wholly applied; `*`: of decisions. */
  applied(scope: string): number {
    return Number(this.fact(`applied:${scope}`) ?? 0)
  }

  newestApplied(): number {
    const sql = "SELECT max(CAST(value AS INTEGER)) AS newest FROM facts WHERE name LIKE 'applied:%'"
    return this.database.get<{ newest: number | null }>(sql)?.newest ?? 0
  }

  /** JSON of a running import. */
  progress(feed: string): string | undefined {
    return this.fact(`progress:${feed}`)
  }

  find(id: string): ConsentRow | undefined {
    return this.database.get<ConsentRow>('SELECT * FROM consents WHERE id = ?', id)
  }

  get calls(): CallState {
    const none = { pauses: {}, holdUntilMs: 0, failuresInARow: 0, inFlight: 0, counters: {} }
    return { ...none, ...(JSON.parse(this.fact('calls') ?? '{}') as Partial<CallState>) }
  }

  /** Refused, or grants that were not confirmed in time; oldest first. */
  dead(): DeadConsent[] {
    const sql = "SELECT * FROM consents WHERE letter IS NOT NULL ORDER BY letter ->> 'at', number"
    return this.database.all<ConsentRow>(sql).map(({ id, email, consent, letter }) => ({
      ...{ id, email: email ?? '', consent: consent === 1 },
      ...(JSON.parse(letter ?? '{}') as ConsentLetter),
    }))
  }

  overview(nowMs: number): OutboxOverview {
    const { pauses, holdUntilMs, holdReason, ...calls } = this.calls
    const [revocations, grants] = [this.#lane(0, nowMs), this.#lane(1, nowMs)]
    const dead = this.count('count(*)', 'letter IS NOT NULL')
    const holdMs = Math.max(0, Math.ceil(holdUntilMs - nowMs))
    return {
      ...calls,
      // No row is ever removed.
      products: this.count('max(number)'),
      incomplete: 0,
      pending: revocations.waiting + grants.waiting + dead,
      repeats: 0,
      lanes: { urgent: revocations, new: grants, deferred: { waiting: 0, oldestMs: 0, dueInMs: 0 } },
      echoes: { waiting: 0, dueInMs: 0 },
      dead,
      paused: Object.entries(pauses).map(([reason, why]) => ({ reason: reason as PauseReason, ...why })),
      holdMs,
      holdReason: holdMs > 0 ? holdReason : undefined,
    }
  }

  [Symbol.dispose](): void {
    this.database[Symbol.dispose]()
  }

  #lane(lane: 0 | 1, nowMs: number) {
    const sql = 'SELECT count(*) AS waiting, min(since) AS since FROM consents WHERE lane = ?'
    const row = this.database.get<{ waiting: number; since: number | null }>(sql, lane)
    return { waiting: row?.waiting ?? 0, oldestMs: Math.max(0, nowMs - (row?.since ?? nowMs)), dueInMs: 0 }
  }

  protected count(what: string, where = 'TRUE'): number {
    const sql = `SELECT ${what} AS count FROM consents WHERE ${where}`
    return this.database.get<{ count: number | null }>(sql)?.count ?? 0
  }
}
