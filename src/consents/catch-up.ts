import type { CatalogKeys } from '../outbox/keys.ts'
import type { OutboxScripts } from '../outbox/scripts.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { ScriptArgument } from '../redis/scripts.ts'
import { digestConsent } from './document.ts'
import type { ConsentJournal } from './journal.ts'
import type { JournalEntry } from './journal-entry.ts'

interface CatchUpOptions {
  connection: RedisConnection
  keys: CatalogKeys
  scripts: OutboxScripts
  journal: ConsentJournal
}

/**
 * Brings Redis to the journal. There is one way only, after each acknowledgement as after a start or a loss: what the
 * journal holds behind the offset that Redis names is handed over, in order, in parts. Redis takes a part only where
 * the former one ended, so that nothing is left out when it was wiped or rolled back meanwhile.
 */
export class CatchUp {
  readonly #options: CatchUpOptions
  #running: Promise<void> = Promise.resolve()
  #queued: Promise<void> | undefined
  #told: number | undefined

  constructor(options: CatchUpOptions) {
    this.#options = options
  }

  /** So much of the journal stood in Redis when it was last asked; undefined: not known. */
  get told(): number | undefined {
    return this.#told
  }

  /** Redis turned out to know less: it is asked again. */
  distrust(): void {
    this.#told = undefined
  }

  /** Resolves when Redis knows everything that was durable at the time of the call. Calls that come meanwhile share one run. */
  follow(): Promise<void> {
    this.#queued ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#queued = undefined
        this.#running = this.#run()
        return this.#running
      })
    return this.#queued
  }

  async #run(): Promise<void> {
    const { connection, scripts, journal } = this.#options
    let from = this.#told ?? (await this.#ask())
    while (from < journal.bytes) {
      const { entries, to } = await journal.read(from)
      const answer = await scripts.run(connection, 'follow-journal', [
        journal.prefix,
        from,
        to,
        ...entries.flatMap(entryArguments),
      ])
      if (Number(answer) === 1) {
        from = to
        this.#told = to
      } else {
        this.#told = undefined
        from = await this.#ask()
      }
    }
    this.#told = from
  }

  /** 0 when Redis knows nothing of this generation, or more than there is (the journal is a restored one). */
  async #ask(): Promise<number> {
    const { connection, keys, journal } = this.#options
    const known = (await connection.get(keys.journal)) ?? ''
    if (!known.startsWith(`${journal.prefix}:`)) return 0
    const offset = Number(known.slice(journal.prefix.length + 1))
    if (offset <= journal.bytes) return offset
    await connection.del(keys.journal)
    return 0
  }
}

function entryArguments(entry: JournalEntry): ScriptArgument[] {
  const detail = entry.event === 'acknowledged' ? digestConsent(entry.consent) : String(entry.at)
  return [entry.event, entry.id, entry.position, detail]
}
