import type { Lane } from '../catalog/model.ts'
import type { Database } from '../lib/database.ts'
import { readIdentityFact, writeFact } from './facts.ts'

/** As they stand in the tables: the more urgent, the smaller. */
export const lanes = ['urgent', 'new', 'deferred'] as const satisfies readonly Lane[]
export const laneRank = { urgent: 0, new: 1, deferred: 2 } as const satisfies Record<Lane, number>
export type LaneRank = 0 | 1 | 2

interface SavedNumbers {
  last: Record<Lane, number>
  offered: Record<Lane, number>
  reserved: number
}

/**
 * The numbers that places get, counted in each lane from 1, and up to which of them Redis may know the places. They are
 * changed inside a transaction: `save` writes them with it, `reload` takes back what was not committed.
 */
export class LaneNumbers {
  readonly #database: Database
  #last: Record<Lane, number> = { urgent: 0, new: 0, deferred: 0 }
  #offered: Record<Lane, number> = { urgent: 0, new: 0, deferred: 0 }
  /** Up to this number of the lane `new` calls of this process may have taken products that Redis does not know. */
  reserved = 0
  /** As it stands in the database. */
  #saved = ''

  constructor(database: Database) {
    this.#database = database
    this.reload()
  }

  get last(): Readonly<Record<Lane, number>> {
    return { ...this.#last }
  }

  get offered(): Readonly<Record<Lane, number>> {
    return { ...this.#offered }
  }

  /** Whether Redis may know all places. */
  get isAllOffered(): boolean {
    return lanes.every((lane) => this.#last[lane] <= this.#offered[lane])
  }

  next(rank: LaneRank): number {
    return this.skip(rank, 1)
  }

  /** Takes so many numbers; returns the last of them. */
  skip(rank: LaneRank, count: number): number {
    const lane = lanes[rank]
    this.#last[lane] += count
    return this.#last[lane]
  }

  isOffered(rank: LaneRank, number: number): boolean {
    return number <= this.#offered[lanes[rank]]
  }

  noteOffered(lane: Lane, number: number): void {
    this.#offered[lane] = Math.max(this.#offered[lane], number)
  }

  save(): void {
    const text = this.#text()
    if (text !== this.#saved) writeFact(this.#database, 'identity', 'numbers', text)
    this.#saved = text
  }

  reload(): void {
    const none = { urgent: 0, new: 0, deferred: 0 }
    const saved = readIdentityFact<Partial<SavedNumbers>>(this.#database, 'numbers')
    this.#last = { ...none, ...saved?.last }
    this.#offered = { ...none, ...saved?.offered }
    this.reserved = saved?.reserved ?? 0
    this.noteOffered('new', this.reserved)
    this.#saved = this.#text()
  }

  #text(): string {
    const numbers: SavedNumbers = { last: this.#last, offered: this.#offered, reserved: this.reserved }
    return JSON.stringify(numbers)
  }
}
