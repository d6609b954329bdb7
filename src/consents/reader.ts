import { createHmac, createSecretKey } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ConsentId } from '../lib/brand.ts'
import { openDatabaseReader } from '../lib/database.ts'
import { explained } from '../lib/database-failure.ts'
import type { PauseReason } from '../outbox/model.ts'
import type { OutboxOverview } from '../outbox/overview.ts'
import type { ConsentLetter, ConsentRow } from './row.ts'
import { consentsFormat, consentsSchema } from './table.ts'

/** By the folder of a catalog, `state/<catalog>`. */
export function consentsPath(dir: string): string {
  return join(dir, 'consents.db')
}

/** How calls stand: what outlives the process, though not each change of it at once. */
export interface CallState {
  pauses: Partial<Record<PauseReason, { since: string; hint: string }>>
  /** No call starts before then (epoch ms), and why. */
  holdUntilMs: number
  holdReason?: 'throttled' | 'failing'
  failuresInARow: number
  lastFailure?: { at: string; text: string }
  /** Calls that are under way. */
  inFlight: number
  counters: Record<string, number>
}

export type DeadConsent = ConsentLetter & { id: ConsentId; email: string; consent: boolean }

/** Of `state/<catalog>`; all zero where no consent was ever taken in. */
export function readConsentOverview(dir: string, nowMs: number): OutboxOverview {
  using reader = ConsentReader.open(dir)
  return reader.overview(nowMs)
}

/** The consents of a catalog as everybody may read them, beside the process that writes them. Synchronous and quick. */
export class ConsentReader implements Disposable {
  readonly #db: DatabaseSync
  readonly #path: string
  #secret: ReturnType<typeof createSecretKey> | undefined

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
  }

  /** Of `state/<catalog>`; empty where no consent was ever taken in. Creates nothing. */
  static open(dir: string): ConsentReader {
    const path = consentsPath(dir)
    const db = openDatabaseReader({ path, format: consentsFormat })
    if (db) return new ConsentReader(db, path)
    const empty = new DatabaseSync(':memory:')
    empty.exec(consentsSchema)
    return new ConsentReader(empty, path)
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
    return this.#get('SELECT value FROM facts WHERE name = ?', name)?.value as string | undefined
  }

  /** The last accept sequence of the feed that is wholly applied; `*`: of decisions. */
  applied(scope: string): number {
    return Number(this.fact(`applied:${scope}`) ?? 0)
  }

  newestApplied(): number {
    const sql = "SELECT max(CAST(value AS INTEGER)) AS newest FROM facts WHERE name LIKE 'applied:%'"
    return Number(this.#get(sql)?.newest ?? 0)
  }

  /** JSON of a running import. */
  progress(feed: string): string | undefined {
    return this.fact(`progress:${feed}`)
  }

  find(id: string): ConsentRow | undefined {
    return this.#get('SELECT * FROM consents WHERE id = ?', id) as ConsentRow | undefined
  }

  get calls(): CallState {
    const none = { pauses: {}, holdUntilMs: 0, failuresInARow: 0, inFlight: 0, counters: {} }
    return { ...none, ...(JSON.parse(this.fact('calls') ?? '{}') as Partial<CallState>) }
  }

  /** Refused, or grants that were not confirmed in time; oldest first. */
  dead(): DeadConsent[] {
    const letters = explained(this.#path, () =>
      this.#db.prepare('SELECT id, email, consent, letter FROM consents WHERE letter IS NOT NULL').all(),
    )
    return letters
      .map(({ id, email, consent, letter }) => {
        const { reason, status, requestId, at } = JSON.parse(String(letter)) as ConsentLetter
        const about = { id: id as ConsentId, email: String(email), consent: consent === 1 }
        return { ...about, reason, status, requestId, at }
      })
      .sort((one, other) => one.at.localeCompare(other.at))
  }

  overview(nowMs: number): OutboxOverview {
    const { pauses, holdUntilMs, holdReason, failuresInARow, lastFailure, inFlight, counters } = this.calls
    const [revocations, grants] = [this.#lane(0, nowMs), this.#lane(1, nowMs)]
    const dead = this.#count('letter IS NOT NULL')
    const holdMs = Math.max(0, Math.ceil(holdUntilMs - nowMs))
    return {
      // No row is ever removed.
      products: Number(this.#get('SELECT max(number) AS n FROM consents')?.n ?? 0),
      incomplete: 0,
      pending: revocations.waiting + grants.waiting + dead,
      lanes: { urgent: revocations, new: grants, deferred: { waiting: 0, oldestMs: 0, dueInMs: 0 } },
      echoes: { waiting: 0, dueInMs: 0 },
      inFlight,
      dead,
      paused: Object.entries(pauses).map(([reason, why]) => ({ reason: reason as PauseReason, ...why })),
      holdMs,
      holdReason: holdMs > 0 ? holdReason : undefined,
      failuresInARow,
      lastFailure,
      learnedBodyBytes: undefined,
      learnedBodyBytesAgeMs: undefined,
      counters,
    }
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  #lane(lane: 0 | 1, nowMs: number) {
    const row = this.#get('SELECT count(*) AS n, min(since) AS since FROM consents WHERE lane = ?', lane)
    return { waiting: Number(row?.n), oldestMs: Math.max(0, nowMs - Number(row?.since ?? nowMs)), dueInMs: 0 }
  }

  #count(where: string): number {
    return Number(this.#get(`SELECT count(*) AS n FROM consents WHERE ${where}`)?.n)
  }

  #get(sql: string, ...values: (string | number)[]) {
    return explained(this.#path, () => this.#db.prepare(sql).get(...values))
  }
}
