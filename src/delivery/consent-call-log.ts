import type { ConsentJournal } from '../consents/journal.ts'
import { parsePosition } from '../consents/position.ts'
import type { ConsentId } from '../lib/brand.ts'
import type { CallLog } from './call-log.ts'
import type { CallBegin, CallEnd } from './call-log-entry.ts'
import { readRecentCalls } from './read-calls.ts'

type CallFields = Parameters<CallLog['begin']>[0]

/**
 * The call log of consents. A call that has a begin and no end here is one that may have been taken unseen: its end is
 * written only when its outcome is durable in the journal.
 */
export class ConsentCallLog implements Pick<CallLog, 'begin' | 'end'> {
  readonly #log: Pick<CallLog, 'begin' | 'end'>
  readonly #positionOf: (token: string) => string | undefined
  /** Ends that wait, by call. */
  readonly #ends = new Map<string, Omit<CallEnd, 'event' | 'at'>>()

  constructor(log: Pick<CallLog, 'begin' | 'end'>, positionOf: (token: string) => string | undefined) {
    this.#log = log
    this.#positionOf = positionOf
  }

  begin(call: CallFields): Promise<string> {
    const position = this.#positionOf(call.token)
    return this.#log.begin({ ...call, bytes: 0, ...(position === undefined ? {} : { position }) })
  }

  async end(call: Omit<CallEnd, 'event' | 'at'>): Promise<void> {
    this.#ends.set(call.call, call)
  }

  /** The claim has come to its end, and so have its calls. */
  settled(token: string): void {
    for (const [name, end] of this.#ends) {
      if (!name.startsWith(`${token}.`)) continue
      this.#ends.delete(name)
      void this.#log.end(end)
    }
  }
}

interface RecoverOptions {
  /** `calls/` of the consents. */
  dir: string
  journal: Pick<ConsentJournal, 'append'>
  log: Pick<CallLog, 'end'>
}

/**
 * Calls of processes that died before their outcome was durable: written into the journal as not confirmed, once. Redis
 * may have forgotten that they were made. Answers how many there were.
 */
export async function recoverCalls({ dir, journal, log }: RecoverOptions): Promise<number> {
  const open = new Map<string, CallBegin>()
  const ended = new Set<string>()
  // Files come in no order: an end may be read before its begin.
  for await (const entry of readRecentCalls(dir, 0)) {
    if (entry.event === 'begin' && !ended.delete(entry.call)) open.set(entry.call, entry)
    if (entry.event === 'end' && !open.delete(entry.call)) ended.add(entry.call)
  }
  const attempts = [...open.values()].map(async ({ call, ids, at, position = '' }) => {
    const [id] = ids
    const record = parsePosition(position)
    if (id !== undefined && record !== undefined) {
      await journal.append({ event: 'unconfirmed', id: id as ConsentId, position: record, at })
    }
    await log.end({ call, outcome: 'unknown', durationMs: 0 })
  })
  await Promise.all(attempts)
  return attempts.length
}
