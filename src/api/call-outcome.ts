import type { EndpointError } from '../lib/errors.ts'

/** What became of one request, as far as it can be known. */
export type CallOutcome =
  | CallResponse
  /** The request never left: name resolution, connection or TLS failed, or there was no address or token to use. */
  | { kind: 'not-sent'; error: EndpointError }
  /** It left, at least in part, and no whole response came back: it may have taken effect, or may do so later. */
  | { kind: 'unknown'; error: EndpointError }

/** Headers of a response that decide something. */
export const shownHeaders = [
  'retry-after',
  'x-request-id',
  'content-type',
  'location',
  'x-api-remaining-requests',
  'x-api-remaining-requests-reset',
] as const

export interface CallResponse {
  kind: 'response'
  status: number
  headers: Partial<Record<(typeof shownHeaders)[number], string>>
  /** Decoded leniently. */
  body: string
  /** Why the body is not all that the server meant to say. */
  cut?: 'longer than is read' | 'in an encoding that cannot be read'
}
