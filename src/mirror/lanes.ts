import type { Lane } from '../catalog/model.ts'
import type { Database } from './database.ts'
import { readFacts, writeFact } from './facts.ts'

/** As they stand in the tables: the more urgent, the smaller. */
export const lanes = ['urgent', 'new', 'deferred'] as const satisfies readonly Lane[]
export const laneRank = { urgent: 0, new: 1, deferred: 2 } as const satisfies Record<Lane, number>
export type LaneRank = 0 | 1 | 2

/**
 * The numbers that places get, counted in each lane from 1, and how far the pump has read them. They are changed inside a
 * transaction: `save` writes them with it, `reload` takes back what was not committed.
 */
export class LaneNumbers {
  readonly #database: Database
  readonly #last: [number, number, number] = [0, 0, 0]
  readonly #saved: [number, number, number] = [0, 0, 0]
  /** Whatever was given before this process may have been read. */
  readonly #read: [number, number, number]

  constructor(database: Database) {
    this.#database = database
    this.reload()
    this.#read = [...this.#last]
  }

  last(rank: LaneRank): number {
    return this.#last[rank]
  }

  next(rank: LaneRank): number {
    return this.skip(rank, 1)
  }

  /** Takes so many numbers; returns the last of them. */
  skip(rank: LaneRank, count: number): number {
    this.#last[rank] += count
    return this.#last[rank]
  }

  isRead(rank: LaneRank, number: number): boolean {
    return number <= this.#read[rank]
  }

  noteRead(rank: LaneRank, number: number): void {
    this.#read[rank] = Math.max(this.#read[rank], number)
  }

  save(): void {
    for (const lane of lanes) {
      const rank = laneRank[lane]
      if (this.#last[rank] === this.#saved[rank]) continue
      writeFact(this.#database, 'number', lane, this.#last[rank])
    }
  }

  committed(): void {
    this.#saved.splice(0, 3, ...this.#last)
  }

  reload(): void {
    const saved = readFacts<Lane, number>(this.#database, 'number')
    for (const lane of lanes) this.#last[laneRank[lane]] = saved.get(lane) ?? 0
    this.committed()
  }
}
