import type { Lane } from '../../src/catalog/model.ts'

// What the store does with places, as plain data: rows by id, digests as texts ('' is a doubt).

const lanes = ['urgent', 'new', 'deferred'] as const

export interface Row {
  digest: string | null
  acknowledged: string | null
  dead: string | null
  lane: Lane | null
  number: number | null
  since: number | null
  /** Redis may know the place by an earlier number. */
  known: boolean
}

export interface Seen {
  held: boolean
  positions: Record<Lane, number>
}

export class Oracle {
  rows = new Map<string, Row>()
  /** Of all products, in the order in which the mirror came to know them: that of their keys. */
  readonly #ids = new Set<string>()
  dropped = new Map<string, string>()
  last: Record<Lane, number> = { urgent: 0, new: 0, deferred: 0 }
  offered: Record<Lane, number> = { urgent: 0, new: 0, deferred: 0 }

  edit(id: string, { digest, lane, now }: { digest: string | null; lane: Lane; now: number }): void {
    this.#ids.add(id)
    const before = this.rows.get(id)
    if (before?.digest === digest || (!before && digest === null)) return
    const never = {
      digest,
      acknowledged: null,
      dead: null,
      lane: null,
      number: null,
      since: null,
      known: false,
    }
    const row: Row = before ?? never
    this.rows.set(id, row)
    Object.assign(row, { digest, dead: null })
    const wanted = row.acknowledged === null && lane === 'deferred' ? 'new' : lane
    const isUndone = digest === null || digest === row.acknowledged
    if (row.number === null) {
      if (isUndone) this.lose(row)
      else if (wanted !== 'deferred') this.give(row, wanted, now)
      else if (row.lane === null) Object.assign(row, { lane: 'deferred', since: now })
      return
    }
    const own = row.lane as Lane
    const upper = digest !== null && lanes.indexOf(wanted) < lanes.indexOf(own) ? wanted : own
    if (upper !== own || row.number <= this.offered[own]) this.give(row, upper, now)
  }

  read(lane: Lane, after: number, rowsMax: number): [id: string, number: number][] {
    const places = [...this.rows]
      .flatMap(([id, row]) =>
        row.lane === lane && (row.number ?? 0) > after ? [[id, row.number as number]] : [],
      )
      .sort(([, one], [, other]) => (one as number) - (other as number))
      .slice(0, rowsMax) as [string, number][]
    this.offered[lane] = Math.max(this.offered[lane], places.at(-1)?.[1] ?? 0)
    return places
  }

  acknowledge(id: string, digest: string, seen: Seen, now: number): void {
    const row = this.rows.get(id)
    if (!row) return
    row.acknowledged = digest
    if (digest === '' || digest === row.digest) row.dead = null
    this.settle(row, seen, now)
  }

  bury(id: string, digest: string, seen: Seen, now: number): void {
    const row = this.rows.get(id)
    if (!row) return
    if (row.digest === digest && this.dropped.get(id) === digest) {
      // What may be taken back is told again when that is decided.
      if (!seen.held) this.dropped.delete(id)
      row.acknowledged = digest
    } else if (row.digest === digest) row.dead = digest
    this.settle(row, seen, now)
  }

  settle(row: Row, { held, positions }: Seen, now: number): void {
    const isAhead = row.number !== null && row.number > positions[row.lane as Lane]
    const wants = row.dead === null && row.digest !== null && row.digest !== row.acknowledged
    if (held) this.ensure(row, 'urgent', now)
    else if (isAhead) return
    else if (!wants) this.lose(row)
    else if (row.lane === null || row.number !== null || row.acknowledged === '')
      this.give(row, 'urgent', now)
  }

  numberDue(now: number, delay: number): void {
    const waiting = [...this.rows.values()].filter(({ lane, number }) => lane !== null && number === null)
    for (const row of waiting) row.since = Math.min(row.since as number, now)
    const due = waiting.filter(({ since }) => (since as number) + delay <= now)
    for (const row of due.sort((one, other) => (one.since as number) - (other.since as number))) {
      this.give(row, 'deferred', now)
    }
  }

  doubt(ids: readonly string[], now: number): void {
    const doubtOne = (row: Row) => {
      Object.assign(row, { acknowledged: '', dead: null })
      this.ensure(row, 'urgent', now)
    }
    const isOffered = ({ lane, number, known }: Row) =>
      known || (lane !== null && number !== null && number <= this.offered[lane])
    const offered = [...this.rows.values()].filter(isOffered)
    for (const id of this.#ids) {
      const row = this.rows.get(id)
      if (row && ids.includes(id)) doubtOne(row)
    }
    for (const row of offered) doubtOne(row)
  }

  /** Numbers in `new` skip products that need none; the store says which it gave. */
  startOver(now: number, numberOf: (id: string) => number): void {
    for (const [id, row] of this.rows) {
      row.dead = null
      if (row.digest === null) continue
      row.acknowledged = ''
      if (row.number !== null) continue
      Object.assign(row, { lane: 'new', number: numberOf(id), since: row.since ?? now })
    }
  }

  resend(id: string, now: number): void {
    const row = this.rows.get(id)
    if (!row || row.digest === null) return
    row.acknowledged = ''
    row.dead = null
    this.ensure(row, 'new', now)
  }

  retryDead(id: string, now: number): void {
    const row = this.rows.get(id)
    if (!row || row.dead === null) return
    row.dead = null
    this.ensure(row, 'new', now)
  }

  dropDead(id: string, digest: string): void {
    const row = this.rows.get(id)
    const isDead = row?.dead === digest
    if (isDead ? row.lane !== null : row?.acknowledged !== digest) this.dropped.set(id, digest)
    if (isDead) Object.assign(row, { dead: null, acknowledged: digest })
  }

  ensure(row: Row, lane: Lane, now: number): void {
    if (row.number === null) this.give(row, lane, now)
  }

  give(row: Row, lane: Lane, now: number): void {
    if (row.lane !== null && row.number !== null && row.number <= this.offered[row.lane]) row.known = true
    this.last[lane] += 1
    Object.assign(row, { lane, number: this.last[lane], since: row.since ?? now })
  }

  lose(row: Row): void {
    Object.assign(row, { lane: null, number: null, since: null, known: false })
  }
}
