import type { ConsentStatement } from '../catalog/consent-mapping.ts'
import type { ConsentId } from '../lib/brand.ts'
import type { ConsentPosition } from './position.ts'

/** Revocations, and grants that were not confirmed: they would miss their horizon behind a long backlog. */
export const firstLane = 0
export const grantLane = 1

export interface ConsentRow {
  number: number
  id: ConsentId
  /** Null, as `consent` is: only the journal of an earlier version told of it, and its file is not applied again yet. */
  email: string | null
  consent: 0 | 1 | null
  position: ConsentPosition
  known: 0 | 1 | null
  attempted: number | null
  lane: 0 | 1 | null
  since: number | null
  /** JSON. */
  letter: string | null
}

/** What one record says, and where in the order of acceptance it stands. */
export interface ConsentStep {
  id: ConsentId
  statement: ConsentStatement
  position: ConsentPosition
}

/** A consent that is being sent. */
export interface ConsentCall extends Pick<ConsentRow, 'number' | 'id' | 'position' | 'known'> {
  email: string
  consent: boolean
  lane: 0 | 1
  /** Of this record; otherwise an earlier call was not confirmed. */
  isFirst: boolean
}

/**
 * What became of a call. `withheld`: nothing was sent. `not-taken`: nothing reached the endpoint. `failed`: answered
 * with an error; it may have taken effect all the same, but not any more. `unknown`: it may also take effect later.
 */
export type CallEnd =
  | { kind: 'taken' | 'withheld' | 'not-taken' | 'failed' | 'unknown' }
  | { kind: 'refused'; letter: ConsentLetter; isNamed: boolean }

export interface ConsentLetter {
  reason: string
  status: number | null
  requestId: string | null
  /** ISO 8601. */
  at: string
  /** Left out: not this state was refused, but its time is over: any newer record revives it. */
  consent?: boolean
}

/** What a record changes: the permission (`change`), or nothing that anybody would notice. Pure. */
export function changeOf(
  row: Pick<ConsentRow, 'consent' | 'position'> | undefined,
  { statement, position }: ConsentStep,
): 'passed' | 'same' | 'added' | 'changed' {
  if (row && row.position >= position) return 'passed'
  if (row === undefined || row.consent === null) return 'added'
  return row.consent === Number(statement.consent) ? 'same' : 'changed'
}

/**
 * Whether a due consent may be sent. A revocation always may. A grant that may have been taken unseen is repeated within
 * the horizon only: later the person may have withdrawn it by a way that is not known here, and a stale grant may be
 * unlawful.
 */
export function mayBeSent(
  { consent, attempted }: Pick<ConsentRow, 'consent' | 'attempted'>,
  { nowMs, horizonMs }: { nowMs: number; horizonMs: number },
): boolean {
  // Also of one that lies ahead, since the clock was set back: how long ago it was is not known.
  return consent !== 1 || attempted === null || Math.abs(nowMs - attempted) < horizonMs
}

interface Ended {
  call: ConsentCall
  end: CallEnd
  nowMs: number
}

/** A newer record that came during the call has its own place, and no attempt. Pure. */
export function rowAfter(row: ConsentRow, { call, end, nowMs }: Ended): ConsentRow {
  const consent = call.consent ? 1 : 0
  const isSame = row.position === call.position
  // Its outcome is known, or nothing was sent: no call of this record is left that was not confirmed.
  const over = isSame && call.isFirst ? { attempted: null } : {}
  const behind = isSame && call.isFirst && row.lane !== null ? { since: nowMs } : {}
  switch (end.kind) {
    case 'taken':
      return settledIfKnown({ ...row, known: consent, ...(isSame ? { attempted: null } : {}) })
    case 'withheld':
      return settledIfKnown({ ...row, known: call.known, ...over })
    case 'not-taken':
      return settledIfKnown({ ...row, known: call.known, ...over, ...behind })
    case 'failed':
      return { ...row, ...over, ...behind }
    case 'unknown':
      return isSame && row.lane !== null ? { ...row, lane: firstLane } : row
    case 'refused': {
      if (row.consent !== consent) return row
      const letter = JSON.stringify({ ...end.letter, consent: call.consent })
      return { ...row, attempted: null, lane: null, since: null, letter }
    }
  }
}

function settledIfKnown(row: ConsentRow): ConsentRow {
  return row.known === row.consent ? { ...row, lane: null, since: null, letter: null } : row
}

export function unconfirmedLetter(
  { attempted }: Pick<ConsentRow, 'attempted'>,
  { nowMs, horizonMs }: { nowMs: number; horizonMs: number },
): string {
  const since = new Date(attempted ?? 0).toISOString()
  const reason = `not confirmed: the grant was first sent at ${since}, no answer said what became of it, and it is not repeated after ${horizonMs / 1000} s; look it up, then retry or drop it`
  return letterText(reason, nowMs)
}

export function waitingLetter(nowMs: number): string {
  const reason =
    'not confirmed: the grant was accepted before consents.db was restored or copied, or for another endpoint; look it up, then retry or drop it'
  return letterText(reason, nowMs)
}

function letterText(reason: string, nowMs: number): string {
  const letter: ConsentLetter = { reason, status: null, requestId: null, at: new Date(nowMs).toISOString() }
  return JSON.stringify(letter)
}
