import { open, readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { ifPresent } from '../lib/errors.ts'
import { privateFileMode } from '../lib/private-modes.ts'
import { syncFolder } from '../lib/system.ts'

/** `begun` is durable before the action is; without a second entry it is not known how it went. */
export interface AuditEntry {
  /** ISO 8601. */
  at: string
  /** Whose token it was; `this-machine`: none is configured. */
  who: 'operator' | 'reader' | 'this-machine' | 'nobody'
  from: string
  action: string
  catalog?: string
  /** What it was about, in words. */
  what?: string
  outcome: 'begun' | 'done' | 'failed'
  reason?: string
}

const bytesMax = 16_000_000
const tailBytes = 64_000

/**
 * Who did what through the console: `state/audit.ndjson`, a line each, appended and synced. A full file becomes
 * `audit.1.ndjson` in place of the one before.
 */
export class AuditLog {
  readonly #file: string
  readonly #clock: Clock
  #last: Promise<void> = Promise.resolve()

  constructor(file: string, clock: Clock) {
    this.#file = file
    this.#clock = clock
  }

  /** Durable when it resolves. */
  async write(entry: Omit<AuditEntry, 'at'>): Promise<void> {
    const line = `${JSON.stringify({ at: new Date(this.#clock.now()).toISOString(), ...entry })}\n`
    const written = this.#last.then(() => this.#append(line))
    // A disk that was full may not be any more.
    this.#last = written.catch(() => undefined)
    await written
  }

  /** Newest first. */
  async newest(entriesMax: number): Promise<AuditEntry[]> {
    const text = await ifPresent(readFile(this.#file, 'utf8'))
    const lines = (text ?? '')
      .slice(-tailBytes)
      .split('\n')
      .slice(-entriesMax - 1)
    return lines.toReversed().flatMap((line) => {
      try {
        return [JSON.parse(line) as AuditEntry]
      } catch {
        // Torn by a loss of power, or cut in half above.
        return []
      }
    })
  }

  async #append(line: string): Promise<void> {
    const size = (await ifPresent(stat(this.#file)))?.size
    if (size !== undefined && size > bytesMax) {
      await rename(this.#file, this.#file.replace(/\.ndjson$/, '.1.ndjson'))
    }
    await using file = await open(this.#file, 'a', privateFileMode)
    await file.writeFile(line)
    await file.sync()
    if (size === undefined || size > bytesMax) await syncFolder(dirname(this.#file))
  }
}
