import type { Database } from '../lib/database.ts'

/** Beyond it what comes pushes the oldest to its products at once. */
const waitingMax = 512
const movedMax = 16

type Noted = readonly (readonly [key: number, entry: string])[]

/**
 * What changed, by product, the newest change first. A page of `history` has the entries of a few products: to change one
 * product of a hundred would write nearly all of them anew. So the changes of a chunk stand together in one fact, durable
 * with the chunk, and go to their products when the mirror has nothing else to do. Its methods run inside a transaction.
 */
export class History {
  readonly #database: Database
  /** Of one product at most. */
  readonly #bytesMax: number
  #gathered: [number, string][] = []
  #waiting = 0
  #last = 0

  constructor(database: Database, bytesMax: number) {
    this.#database = database
    this.#bytesMax = bytesMax
    this.reload()
  }

  get hasAny(): boolean {
    return this.#waiting > 0
  }

  /** To be followed by `write`. */
  note(key: number, { change, nowMs }: { change: string; nowMs: number }): void {
    if (this.#bytesMax > 0) this.#gathered.push([key, `${nowMs} ${change}\n`])
  }

  write(): void {
    if (this.#gathered.length === 0) return
    const noted = JSON.stringify(this.#gathered satisfies Noted)
    this.#gathered = []
    this.#last += 1
    // Ordered as text, too.
    const name = String(this.#last).padStart(16, '0')
    this.#database.run("INSERT INTO facts VALUES ('changes', ?, ?)", name, noted)
    this.#waiting += 1
    if (this.#waiting > waitingMax) this.move(1)
  }

  /** The oldest. What exceeds the bound of a product is cut off behind, the last entry that fits in part with it. */
  move(factsMax = movedMax): void {
    const oldest = "SELECT name, value FROM facts WHERE kind = 'changes' ORDER BY name LIMIT ?"
    const sql = `INSERT INTO history VALUES (?1, ?2) ON CONFLICT DO
      UPDATE SET entries = substr(CAST(CAST(?2 AS TEXT) || CAST(entries AS TEXT) AS BLOB), 1, ?3)`
    for (const { name, value } of this.#database.all<{ name: string; value: string }>(oldest, factsMax)) {
      // The bound may have been another.
      for (const [key, entry] of this.#bytesMax > 0 ? (JSON.parse(value) as Noted) : [])
        this.#database.run(sql, key, Buffer.from(entry), this.#bytesMax)
      this.#database.run("DELETE FROM facts WHERE kind = 'changes' AND name = ?", name)
      this.#waiting -= 1
    }
  }

  /** Something may have been rolled back. */
  reload(): void {
    const sql = "SELECT count(*) AS waiting, max(name) AS last FROM facts WHERE kind = 'changes'"
    const { waiting, last } = this.#database.get<{ waiting: number; last: string | null }>(sql) ?? {}
    this.#gathered = []
    this.#waiting = waiting ?? 0
    this.#last = Number(last ?? this.#last)
  }
}

/** Newest first, `at entry` each. `entries`: of the product in `history`. */
export function readHistory(database: Database, key: number, entries: Uint8Array | null): string[] {
  const sql = `SELECT value FROM facts WHERE kind = 'changes' AND instr(value, ?) > 0 ORDER BY name DESC`
  const waiting = database.all<{ value: string }>(sql, `[${key},"`).flatMap(({ value }) =>
    (JSON.parse(value) as Noted)
      .filter(([noted]) => noted === key)
      .map(([, entry]) => entry)
      .reverse(),
  )
  // What stands behind the last line end was cut off.
  return (waiting.join('') + Buffer.from(entries ?? []).toString('utf8')).split('\n').slice(0, -1)
}
