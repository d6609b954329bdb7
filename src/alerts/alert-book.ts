import type { CatalogName, FeedName } from '../lib/brand.ts'

/** What is known of one matter. Times are wall-clock ms, so that they outlive the process. */
export interface BookEntry {
  id: string
  /** As it was last seen. */
  condition: Condition
  sinceMs: number
  /** When somebody was told last that it is wrong; undefined: never. */
  toldMs?: number
  /** Of what was told. */
  toldOccurrence?: string
  /** `seen`: nobody was told yet; `over`: kept so that it is not told again too soon. */
  state: 'seen' | 'told' | 'over'
}

export interface AlertMessage {
  id: string
  state: 'firing' | 'resolved'
  sinceMs: number
  condition: Condition
}

interface Looked {
  conditions: readonly Condition[]
  nowMs: number
  /** Whether it cannot be known now if a matter is over. */
  isUnsure: (condition: Condition) => boolean
}

/** What lasts is told again, lest it is forgotten. */
const remindMs = 24 * 3_600_000
/** Matters at one time; more would tell nobody anything. */
const entriesMax = 1_000

/**
 * Decides what to tell, from what is wrong at each look.
 *
 * seen → told (at once, or after `forMs`, or when `everyMs` have passed since the last message) → over (told, too) →
 * forgotten after `everyMs`, or told again. While it lasts it is told again when its occurrence changes, and once a day.
 */
export class AlertBook {
  readonly #everyMs: number
  readonly #entries: Map<string, BookEntry>

  constructor({ everyMs, entries }: { everyMs: number; entries: readonly BookEntry[] }) {
    this.#everyMs = everyMs
    this.#entries = new Map(entries.map((entry) => [matterOf(entry.condition), entry]))
  }

  entries(): BookEntry[] {
    return [...this.#entries.values()]
  }

  update({ conditions, nowMs, isUnsure }: Looked): AlertMessage[] {
    const messages: AlertMessage[] = []
    const present = new Set<string>()
    for (const condition of conditions) {
      const matter = matterOf(condition)
      present.add(matter)
      const known = this.#entries.get(matter)
      if (known === undefined && this.#entries.size >= entriesMax) continue
      const entry =
        known === undefined || known.state === 'over' ? begin(matter, condition, nowMs, known) : known
      entry.condition = condition
      this.#entries.set(matter, entry)
      if (this.#isToTell(entry, nowMs)) messages.push(tell(entry, nowMs))
    }
    for (const [matter, entry] of this.#entries) {
      if (present.has(matter)) continue
      if (entry.state !== 'over' && isUnsure(entry.condition)) continue
      if (entry.state === 'told') messages.push(messageOf(entry, 'resolved'))
      entry.state = 'over'
      if (this.#sinceTold(entry, nowMs) >= this.#everyMs) this.#entries.delete(matter)
    }
    return messages
  }

  #isToTell(entry: BookEntry, nowMs: number): boolean {
    const { state, condition, sinceMs, toldOccurrence } = entry
    if (state === 'seen' && nowMs - sinceMs < (condition.forMs ?? 0)) return false
    const quietMs = this.#sinceTold(entry, nowMs)
    if (quietMs < this.#everyMs) return false
    return state === 'seen' || toldOccurrence !== condition.occurrence || quietMs >= remindMs
  }

  /** A clock that was set back must not silence anything. */
  #sinceTold({ toldMs }: BookEntry, nowMs: number): number {
    if (toldMs === undefined || toldMs > nowMs) return Number.POSITIVE_INFINITY
    return nowMs - toldMs
  }
}

function matterOf({ kind, catalog, subject }: Condition): string {
  return JSON.stringify([kind, catalog ?? null, subject])
}

function begin(
  matter: string,
  condition: Condition,
  nowMs: number,
  before: BookEntry | undefined,
): BookEntry {
  const [kind, catalog, subject] = JSON.parse(matter) as string[]
  const id = [kind, catalog, subject, new Date(nowMs).toISOString()].filter(Boolean).join(':')
  return {
    id,
    condition,
    sinceMs: nowMs,
    ...(before?.toldMs === undefined ? {} : { toldMs: before.toldMs }),
    state: 'seen',
  }
}

function tell(entry: BookEntry, nowMs: number): AlertMessage {
  entry.state = 'told'
  entry.toldMs = nowMs
  if (entry.condition.occurrence === undefined) delete entry.toldOccurrence
  else entry.toldOccurrence = entry.condition.occurrence
  return messageOf(entry, 'firing')
}

function messageOf({ id, sinceMs, condition }: BookEntry, state: AlertMessage['state']): AlertMessage {
  return { id, state, sinceMs, condition: { ...condition } }
}

/** What alerts are about; the words stand in payloads and do not change. */
export type AlertKind =
  /** The endpoint refuses the credentials: no call is made. */
  | 'credentials'
  /** The endpoint refused 20 products in a row: no call is made. */
  | 'refuses-everything'
  /** Price and availability changes wait too long. */
  | 'urgent-lag'
  /** Something of a feed waits for approval. */
  | 'held'
  /** A file was refused, or too many of its records. */
  | 'failed'
  /** A file was older than the newest full file: set aside. */
  | 'late'
  /** No file came for so long. */
  | 'stale'
  | 'disk'
  | 'redis'
  /** Files cannot be fetched. */
  | 'pull'
  /** A drop folder or file in it cannot be used. */
  | 'drop'
  /** Imports pause. */
  | 'imports'
  /** Products or consents that the endpoint refused. */
  | 'dead-letters'
  /** A reload was refused. */
  | 'config'
  | 'test'

/** Something that is wrong now. Two of one kind and subject are the same matter. */
export interface Condition {
  kind: AlertKind
  subject: string
  severity: 'critical' | 'warning'
  /** One sentence, and what to do about it. */
  message: string
  hint: string
  catalog?: CatalogName
  feed?: FeedName
  /** Tells one occurrence of a matter from the next: when it changes, the alert is sent again. */
  occurrence?: string
  /** How long it must last before anybody is told; default: not at all. */
  forMs?: number
}

/** The body of one call of the webhook. All texts are free of secrets and e-mail addresses. */
export interface AlertPayload extends Omit<Condition, 'occurrence' | 'forMs'> {
  /** The same from the first message about a matter until the one that it is over. */
  id: string
  state: 'firing' | 'resolved'
  /** ISO 8601: when it was first seen. */
  since: string
  /** ISO 8601: when this message was made. */
  at: string
  host: string
  version: string
  /** Everything in one line, for chats that show the member `text`. */
  text: string
}
