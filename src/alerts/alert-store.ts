import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { writeDurably } from '../lib/durable.ts'
import { systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { AlertPayload, BookEntry } from './alert-book.ts'

/** What outlives the process, so that a restart tells nothing twice and loses nothing. */
export interface AlertState {
  entries: BookEntry[]
  waiting: AlertPayload[]
  /** `catalog/feed` → wall-clock ms since when a file has been expected, of feeds that never had one. */
  expectedSince: Record<string, number>
}

/** Written by us; checked as far as a damaged file could do harm. */
const condition = z.looseObject({
  kind: z.string(),
  subject: z.string(),
  message: z.string(),
  hint: z.string(),
})
const stateSchema = z.object({
  entries: z.array(
    z.looseObject({
      id: z.string(),
      sinceMs: z.number(),
      state: z.enum(['seen', 'told', 'over']),
      toldMs: z.number().optional(),
      condition,
    }),
  ),
  waiting: z.array(z.looseObject({ id: z.string(), kind: z.string(), version: z.string() })),
  expectedSince: z.record(z.string(), z.number()),
})

/** The file `state/alerts.json`. What cannot be read begins anew; what cannot be written is only remembered. */
export class AlertStore {
  readonly #path: string
  readonly #log: Log
  #written = ''
  #writing: Promise<void> = Promise.resolve()

  constructor({ path, log }: { path: string; log: Log }) {
    this.#path = path
    this.#log = log
  }

  async read(): Promise<AlertState> {
    try {
      const text = await readFile(this.#path, 'utf8')
      return stateSchema.parse(JSON.parse(text)) as unknown as AlertState
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT') {
        this.#log.warn({ path: this.#path }, 'what was alerted before cannot be read and is forgotten')
      }
      return { entries: [], waiting: [], expectedSince: {} }
    }
  }

  /** Writes it unless it stands there already. Waits for what is being written. */
  write(state: AlertState): Promise<void> {
    const text = `${JSON.stringify(state)}\n`
    this.#writing = this.#writing.then(async () => {
      if (text === this.#written) return
      const temporary = join(dirname(this.#path), '.alerts.tmp')
      try {
        await writeDurably(this.#path, text, temporary)
        this.#written = text
      } catch (error) {
        if (systemErrorCode(error) === undefined) throw error
        this.#log.debug({ err: error }, 'what was alerted cannot be written')
      }
    })
    return this.#writing
  }
}
