import type { EndpointError } from '../lib/errors.ts'

/** What became of one request, as far as it can be known. */
export type CallOutcome =
  | CallResponse
  /** The request never left: name resolution, connection or TLS failed, or there was no address or token to use. */
  | { kind: 'not-sent'; error: EndpointError }
  /** It left, at least in part, and no whole response came back: it may have taken effect, or may do so later. */
  | { kind: 'unknown'; error: EndpointError }

export interface CallResponse {
  kind: 'response'
  status: number
  /** Lower-cased; only those that decide something. */
  headers: Partial<Record<'retry-after' | 'x-request-id' | 'content-type' | 'location', string>>
  /** Decoded leniently, and cut where it is too long. */
  body: string
}
