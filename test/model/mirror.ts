import type { Rules } from './rules.ts'
import {
  type Document,
  digestOf,
  type Edit,
  type Lane,
  lanes,
  limits,
  type Mirror,
  type Numbers,
  numbers,
  type Row,
  type TakenFields,
} from './state.ts'

// The transactions of the mirror.

export function freshMirror(generation: string, inode: number): Mirror {
  return {
    rows: new Map(),
    last: numbers(),
    offered: numbers(),
    id: generation,
    generation,
    former: [],
    inode,
    beat: 0,
    runId: 0,
    behind: false,
    startOver: null,
    startOverSince: 0,
    callsFrom: 0,
    calls: undefined,
    applied: 0,
  }
}

/** What an edit makes of a product. */
export function editedDocument(
  before: Document | undefined,
  { price, text, form }: Edit,
  { owner, version }: Pick<Document, 'owner' | 'version'>,
): Document {
  return {
    owner,
    price: price ?? before?.price ?? 0,
    text: text ?? before?.text ?? 0,
    form: form ?? before?.form ?? 0,
    version,
  }
}

export function commitEdit(
  mirror: Mirror,
  edit: Edit,
  { rules, owner, now }: { rules: Rules; owner: number; now: number },
): void {
  const version = ++mirror.applied
  const row = mirror.rows.get(edit.id)
  const document = editedDocument(row?.document, edit, { owner, version })
  if (!row) {
    const added = { document, digest: digestOf(document), acknowledged: null, dead: null }
    const fresh: Row = { ...added, lane: null, number: null, since: now, known: false }
    mirror.rows.set(edit.id, fresh)
    placeNumbered(mirror, fresh, { lane: 'new', now })
    return
  }
  const before = row.document
  if (digestOf(document) === digestOf(before)) return
  row.document = document
  const isChange = document.price !== before.price || document.text !== before.text
  if (!isChange && !rules['digest follows the bytes']) return
  row.digest = digestOf(document)
  row.dead = null
  const lane = document.price !== before.price ? 'urgent' : row.acknowledged === null ? 'new' : 'deferred'
  placeEdit(mirror, row, { lane, now, rules })
}

/** Which place an edit leaves its product in. */
function placeEdit(
  mirror: Mirror,
  row: Row,
  { lane, now, rules }: { lane: Lane; now: number; rules: Rules },
): void {
  const isUndone = row.digest === row.acknowledged
  if (row.lane === null) {
    if (isUndone) return
    if (lane !== 'deferred') placeNumbered(mirror, row, { lane, now })
    else Object.assign(row, { lane, number: null, since: now })
  } else if (row.number === null) {
    if (isUndone) leavePlace(row)
    else if (lane !== 'deferred') placeNumbered(mirror, row, { lane, now })
  } else {
    const upper = moreUrgent(row.lane, lane)
    const renumbers = isRead(mirror, row)
      ? rules['a read place gets a new number']
      : !rules['an unread place keeps its number']
    if (upper !== row.lane || renumbers) placeNumbered(mirror, row, { lane: upper, now })
  }
}

export function moreUrgent(one: Lane, other: Lane): Lane {
  return lanes.indexOf(one) <= lanes.indexOf(other) ? one : other
}

/** The next number of a lane. The time since when the product is unsent stays. */
export function placeNumbered(mirror: Mirror, row: Row, { lane, now }: { lane: Lane; now: number }): void {
  if (row.lane === null) row.since = now
  if (isRead(mirror, row)) row.known = true
  row.lane = lane
  row.number = ++mirror.last[lane]
}

/** Whether the pump may have offered the place under its present number. */
function isRead({ offered }: Mirror, { lane, number }: Row): boolean {
  return lane !== null && number !== null && number <= offered[lane]
}

function leavePlace(row: Row): void {
  row.known = false
  row.lane = null
  row.number = null
}

/** Deferred places that are due get their numbers. */
export function numberDue(mirror: Mirror, now: number): void {
  const waiting = [...mirror.rows.values()].filter(
    ({ lane, number }) => lane === 'deferred' && number === null,
  )
  for (const row of waiting) row.since = Math.min(row.since, now)
  for (const row of waiting.toSorted((one, other) => one.since - other.since)) {
    if (row.since + limits.deferredAfter <= now) placeNumbered(mirror, row, { lane: 'deferred', now })
  }
}

/** What a product gets that is doubtful or asked for by the operator: a numbered place, if it has none. */
export function ensureNumbered(mirror: Mirror, row: Row, { lane, now }: { lane: Lane; now: number }): void {
  if (row.lane === null || row.number === null) placeNumbered(mirror, row, { lane, now })
}

/** Makes what was read of Redis durable. */
export function drain(
  mirror: Mirror,
  { acknowledged, dead, positions }: TakenFields,
  { rules, now }: { rules: Rules; now: number },
): void {
  const settleWith = (row: Row, held: boolean) =>
    settle(mirror, row, {
      held: held && rules['the place stays while anything is held'],
      positions,
      rules,
      now,
    })
  const take = ([id, value, held]: TakenFields['acknowledged'][number]) => {
    const row = mirror.rows.get(id)
    if (!row) return
    const [digest = ''] = value.split(' ')
    const dropped = digest.startsWith('=') ? digest.slice(1) : undefined
    if (dropped !== undefined) {
      if (!rules['a drop is checked by the drain']) row.acknowledged = dropped
    } else if (digest !== '' || rules['a doubt reaches the mirror']) row.acknowledged = digest
    // It is sent once more, or was taken after all.
    if (digest === '' || row.dead === row.acknowledged) row.dead = null
    settleWith(row, held)
  }
  const inOrder = acknowledged.toSorted(([one], [other]) => (one < other ? -1 : 1))
  const told = Object.groupBy(inOrder, ([, value, held]) =>
    value.startsWith('=') ? 'drops' : held || value === '' ? 'undecided' : 'over',
  )
  for (const each of [...(told.undecided ?? []), ...(told.over ?? [])]) take(each)
  for (const [id, value, held] of dead) {
    const row = mirror.rows.get(id)
    if (!row) continue
    if (value.split(' ')[0] === row.digest) row.dead = row.digest
    settleWith(row, held)
  }
  for (const each of told.drops ?? []) take(each)
}

/** Whether a product keeps its place, loses it, or needs another, after what Redis said of it. */
function settle(
  mirror: Mirror,
  row: Row,
  { held, positions, rules, now }: { held: boolean; positions: Numbers; rules: Rules; now: number },
): void {
  if (held) {
    ensureNumbered(mirror, row, { lane: 'urgent', now })
    return
  }
  const isOffered = row.lane !== null && row.number !== null && row.number <= positions[row.lane]
  const isAhead = row.number !== null && !isOffered
  const wants = row.dead === null && row.digest !== row.acknowledged
  if (isAhead && (wants || rules['the place stays when it was not read'])) return
  if (!wants) leavePlace(row)
  else if (!rules['an older acknowledgement gives a place']) return
  else if (row.lane === null || isOffered || row.acknowledged === '')
    placeNumbered(mirror, row, { lane: 'urgent', now })
}

/** After a loss: whatever Redis may have held is doubtful. */
export function doubtAfterLoss(
  mirror: Mirror,
  named: ReadonlySet<string>,
  { rules, now }: { rules: Rules; now: number },
): void {
  for (const [id, row] of mirror.rows) {
    const wasRead = row.known && rules['a place remembers that it was read']
    if (!wasRead && !isRead(mirror, row) && !named.has(id)) continue
    if (rules['a loss leaves doubts']) row.acknowledged = ''
    row.dead = null
    ensureNumbered(mirror, row, { lane: 'urgent', now })
  }
}

/** One chunk of starting over: a product; each takes a number, needed or not. Answers whether there was one. */
export function startOverWithNext(mirror: Mirror, { rules, now }: { rules: Rules; now: number }): boolean {
  const row = [...mirror.rows.values()][mirror.startOver ?? 0]
  if (!row) return false
  if (rules['starting over believes nothing']) row.acknowledged = ''
  row.dead = null
  if (!mirror.startOver) mirror.startOverSince = now
  if (row.lane === null || row.number === null)
    placeNumbered(mirror, row, { lane: 'new', now: mirror.startOverSince })
  else mirror.last.new++
  mirror.startOver = (mirror.startOver ?? 0) + 1
  return true
}
