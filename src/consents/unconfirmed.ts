import type { ConsentPosition } from './position.ts'

/** The first call of a record that was not answered. */
export interface UnconfirmedAttempt {
  position: ConsentPosition
  /** Wall-clock ms of its beginning. */
  at: number
}

interface Due {
  consent: boolean
  position: ConsentPosition
  unconfirmed: UnconfirmedAttempt | undefined
  now: number
  horizonMs: number
}

/**
 * Whether a due consent may be sent. A revocation always may. A grant that may have been taken unseen is repeated within
 * the horizon only: later the person may have withdrawn it by a way that is not known here, and a stale grant may be
 * unlawful. An attempt of an earlier record says nothing about this one.
 */
export function mayBeSent({ consent, position, unconfirmed, now, horizonMs }: Due): boolean {
  if (!consent || unconfirmed?.position !== position) return true
  // Also of one that lies ahead, since the clock was set back: how long ago it was is not known.
  return Math.abs(now - unconfirmed.at) < horizonMs
}
