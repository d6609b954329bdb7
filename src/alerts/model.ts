import type { CatalogName, FeedName } from '../lib/brand.ts'

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
  /** Sent by `catalogd alert test`. */
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
export interface AlertPayload {
  /** The same from the first message about a matter until the one that it is over. */
  id: string
  kind: AlertKind
  subject: string
  severity: Condition['severity']
  state: 'firing' | 'resolved'
  /** ISO 8601: when it was first seen. */
  since: string
  /** ISO 8601: when this message was made. */
  at: string
  message: string
  hint: string
  catalog?: CatalogName
  feed?: FeedName
  host: string
  version: string
  /** Everything in one line, for chats that show the member `text`. */
  text: string
}
