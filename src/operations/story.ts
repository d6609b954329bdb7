import type { ChangeEntry } from '../catalog/change-entry.ts'
import type { Lane } from '../catalog/model.ts'
import type { CallEntry } from './list-calls.ts'

/** Times are ISO 8601; null: not known, or there is none. */

/** The file that an import took in; null where the manifest does not know it. */
export interface ImportOrigin {
  import: number
  feed: string | null
  file: string | null
  acceptedAt: string | null
  /** As of when the file holds. */
  asOf: string | null
}

/** The record in which a feed last spoke: `line` is where it begins in the decoded file. */
export interface RecordPlace extends ImportOrigin {
  line: number
}

/** A value as it is shown: long and structured ones as a text, sensitive ones as `(hidden)`. */
type ShownValue = string | number | boolean | null

export interface FieldStory {
  field: string
  /** As it goes out. */
  value: ShownValue
  /** Who wrote it; null: only a missing mark. */
  feed: string | null
  /** The record that it comes from; null: it was imported before that was noted. */
  from: RecordPlace | null
  /**
   * Why this feed counts: `only` it maps the field, it `owns` it, or it comes `first` in the configuration; `earlier`: the
   * configuration gives the field to another one by now, whose next file counts.
   */
  because: 'only' | 'owns' | 'first' | 'earlier'
  /** What other feeds said last, and is not used. `isWriter`: the configuration gives that feed the field by now. */
  hides: { feed: string; value: ShownValue; from: RecordPlace | null; isWriter: boolean }[]
  /** The value goes out instead of this one, since the product is missing from a feed. */
  insteadOf?: ShownValue
}

/** Why the value of another feed is not used. */
export function whyHidden({ feed, because }: FieldStory, hidden: FieldStory['hides'][number]): string {
  if (hidden.isWriter)
    return `${hidden.feed} writes the field by now, and its next file counts: load its last one again`
  if (because === 'owns') return `${feed} owns the field`
  return because === 'first'
    ? `${feed} stands first in the configuration`
    : `${feed} wrote the field under an earlier configuration`
}

/** Required, and no feed has brought it: which feeds map it. */
export interface MissingField {
  field: string
  feeds: string[]
}

export type StoryState =
  /** The endpoint has acknowledged the newest document; null: by a call that is not kept. */
  | { state: 'at-rest'; acknowledgedAt: string | null }
  /** The same, but an earlier call may still take effect, so it is sent once more; null: when is not known. */
  | { state: 'repeated'; at: string | null }
  /** Not sent: required fields are missing. */
  | { state: 'incomplete'; missing: MissingField[] }
  /** The endpoint refused it; a newer document, or `dead retry`, revives it. */
  | { state: 'dead-letter'; reason: string; status: number | null; requestId: string | null; at: string }
  /** The operator gave the refused document up. */
  | { state: 'given-up'; at: string }
  /** Bound to a call at this moment. */
  | { state: 'claimed'; token: string; since: string; leaseEndsAt: string | null; lane: Lane | null }
  /** Unsent. `isDoubtful`: a call of unknown outcome may have taken effect, so it is sent once more. */
  | { state: 'due'; lane: Lane; since: string; isOffered: boolean; isDoubtful: boolean }
  /** A change that can wait. */
  | { state: 'deferred'; since: string; dueAt: string }

/** What keeps the product from going out, besides its own state. */
export interface Block {
  reason: 'paused' | 'credentials' | 'refuses-everything' | 'redis' | 'waiting' | 'repairing' | 'daemon'
  text: string
  since: string | null
}

export interface FeedStory {
  feed: string
  /** `missing`: its full file names the product no longer. `gone`: it wrote fields and is not configured any more. */
  standing: 'named' | 'missing' | 'gone'
  /** Its newest record that changed anything here. */
  lastRecord: RecordPlace | null
  missingSince: ImportOrigin | null
  /** Its newest full file leaves the product out, which waits for approval. */
  isRemovalHeld: boolean
}

/** A change of the document, with what became of it. */
export interface StoryChange {
  at: string
  cause: ChangeEntry['cause']['kind']
  from: RecordPlace | ImportOrigin | null
  lane: Lane
  fields: { field: string; before: ShownValue; after: ShownValue }[]
  more: number
  delivery: DeliveryTimes
}

/** How a change went out, as far as it is known. Delays in ms. */
export interface DeliveryTimes {
  acceptedAt: string | null
  /** Written down, and so due or waiting. */
  queuedAt: string | null
  /** The call that was acknowledged began; of one that was not, the first call. */
  sentAt: string | null
  acknowledgedAt: string | null
  call: CallEntry | null
  acceptedToQueuedMs: number | null
  queuedToSentMs: number | null
  sentToAcknowledgedMs: number | null
}

export interface KnownStory {
  kind: 'known'
  productId: string
  catalog: string
  readAt: string
  state: StoryState
  blocks: Block[]
  /** What the endpoint holds of it: nothing, the newest document, an older one, or one of both. */
  endpoint: 'nothing' | 'newest' | 'older' | 'doubtful'
  /** As it is sent, without sensitive fields; null: it is incomplete. */
  document: Readonly<Record<string, unknown>> | null
  fields: FieldStory[]
  feeds: FeedStory[]
  /** No feed names it since then. */
  absentSince: string | null
  /** What feeds have announced for later. */
  announced: { feed: string; at: string; fields: { field: string; value: ShownValue }[] }[]
  /** The newest document on its way. */
  delivery: DeliveryTimes
  /** Newest first, as many as are kept. */
  changes: StoryChange[]
  /** The last calls that carried it, newest first. */
  calls: CallEntry[]
  /** How many of the last calls were looked through for that. */
  callsLookedThrough: number
  /** Whether Redis was asked, too. */
  redis: 'asked' | 'away'
}

/** `nearIds`: known ids that resemble it. */
export interface UnknownStory {
  kind: 'unknown'
  productId: string
  catalog: string
  nearIds: string[]
}

export type ProductStory = KnownStory | UnknownStory
