import type { ConsentStatement } from '../catalog/consent-mapping.ts'
import type { AcceptSequence, Brand, ConsentId } from '../lib/brand.ts'

/** Revocations, and grants that were not confirmed: they would miss their horizon behind a long backlog. */
export const firstLane = 0
export const grantLane = 1

/**
 * Where in the order of acceptance a record stands: accept sequence of its file, then its place in the file. Digits of a
 * fixed number, so that texts compare as the positions do.
 */
export type ConsentPosition = Brand<string, 'ConsentPosition'>

const digits = 10

/** `record` counts from 0 or 1, as long as it grows within the file. */
export function positionOf(sequence: AcceptSequence, record: number): ConsentPosition {
  const parts = [sequence, record].map((part) => String(part).padStart(digits, '0'))
  return parts.join('') as ConsentPosition
}

/** What is known of an address. See the schema for its states. */
export interface ConsentRow {
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
  refused: 1 | null
}

/** What one record says, and where in the order of acceptance it stands. */
export interface ConsentStep {
  id: ConsentId
  statement: ConsentStatement
  position: ConsentPosition
}

/**
 * What became of a call. `not-taken`: nothing reached the endpoint. `failed`: answered with an error; it may have taken
 * effect all the same, but not any more. `unknown`: it may also take effect later.
 */
export type CallEnd =
  | { kind: 'taken' | 'not-taken' | 'failed' | 'unknown' }
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

/** Neither due nor waiting for the operator. */
export const settled = { lane: null, since: null, letter: null, refused: null } as const

/** What a record changes: the permission, or (undefined) nothing that anybody would notice. Pure, as all here is. */
export type ConsentChange = 'added' | 'changed' | undefined

export function changeOf(row: ConsentRow | undefined, { statement, position }: ConsentStep): ConsentChange {
  if (row && row.position >= position) return undefined
  if (row === undefined || row.consent === null) return 'added'
  return row.consent === Number(statement.consent) ? undefined : 'changed'
}

/**
 * The newest accepted record wins, whatever order the feeds are applied in. Grants of files before the accept sequence
 * `waitsBefore` wait for the operator. Undefined: nothing changes.
 */
export function rowWith(
  row: ConsentRow | undefined,
  step: ConsentStep,
  { nowMs, waitsBefore }: { nowMs: number; waitsBefore: number },
): ConsentRow | undefined {
  const { id, position, statement } = step
  if (row && row.position >= position) return filled(row, step, nowMs)
  const { email } = statement
  const consent = statement.consent ? 1 : 0
  const known = row?.known ?? null
  const record = { ...settled, id, email, consent, position, known, attempted: null } as const
  if (known === consent) return record
  const letter = row?.letter ? (JSON.parse(row.letter) as ConsentLetter) : undefined
  // The very state that the endpoint refused.
  if (letter?.consent === statement.consent) return { ...record, letter: row?.letter ?? null }
  if (statement.consent && Number(position.slice(0, digits)) < waitsBefore)
    return { ...record, letter: notConfirmed(acceptedBefore, nowMs) }
  const lane = consent === 0 ? firstLane : grantLane
  return { ...record, lane, since: row?.lane === lane ? row.since : nowMs }
}

/** Of a row that only the journal told of: what its record says. */
function filled(row: ConsentRow, step: ConsentStep, nowMs: number): ConsentRow | undefined {
  const { email, consent } = step.statement
  // Of several records the newest has the address as it was last written.
  if (row.email !== null || row.position !== step.position) return undefined
  const isDue = row.consent === null && row.attempted !== null
  const place = isDue ? ({ lane: firstLane, since: nowMs } as const) : {}
  return { ...row, ...place, email, consent: row.consent ?? (consent ? 1 : 0) }
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

/**
 * `sent`: as it was when its call began. A newer record that came during the call has its own place, and no attempt.
 */
export function rowAfter(row: ConsentRow, sent: ConsentRow, end: CallEnd, nowMs: number): ConsentRow {
  const { consent, known } = sent
  const isSame = row.position === sent.position
  // No call of this record is left that was not confirmed; it is tried again behind the others.
  const since = row.lane === null ? null : nowMs
  const over = isSame && sent.attempted === null ? { attempted: null, since } : {}
  switch (end.kind) {
    case 'taken':
      return settledIfKnown({ ...row, known: consent, attempted: isSame ? null : row.attempted })
    case 'not-taken':
      return settledIfKnown({ ...row, known, ...over })
    case 'failed':
      return { ...row, ...over }
    case 'unknown':
      return isSame && row.lane !== null ? { ...row, lane: firstLane } : row
    case 'refused': {
      if (row.consent !== consent) return row
      const letter = JSON.stringify({ ...end.letter, consent: consent === 1 })
      return { ...row, ...settled, attempted: null, letter, refused: end.isNamed ? null : 1 }
    }
  }
}

function settledIfKnown(row: ConsentRow): ConsentRow {
  return row.known === row.consent ? { ...row, ...settled } : row
}

export const acceptedBefore = 'accepted before consents.db was restored or copied, or for another endpoint'

/** A letter for the operator: nobody knows whether the endpoint holds the grant. */
export function notConfirmed(why: string, nowMs: number): string {
  const reason = `not confirmed: the grant was ${why}; look it up, then retry or drop it`
  const letter: ConsentLetter = { reason, status: null, requestId: null, at: new Date(nowMs).toISOString() }
  return JSON.stringify(letter)
}
