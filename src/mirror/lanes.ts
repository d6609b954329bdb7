import type { Lane } from '../catalog/model.ts'
import type { Database } from '../lib/database.ts'
import { readFacts, writeFact } from './facts.ts'

/** As they stand in the tables: the more urgent, the smaller. */
export const lanes = ['urgent', 'new', 'deferred'] as const satisfies readonly Lane[]
export const laneRank = { urgent: 0, new: 1, deferred: 2 } as const satisfies Record<Lane, number>
export type LaneRank = 0 | 1 | 2

type Numbers = [number, number, number]

/**
 * The numbers that places get, counted in each lane from 1, and up to which of them Redis may know the places. They are
 * changed inside a transaction: `save` writes them with it, `reload` takes back what was not committed.
 */
export class LaneNumbers {
  readonly #database: Database
  readonly #last: Numbers = [0, 0, 0]
  readonly #offered: Numbers = [0, 0, 0]
  /** What stands in the database, last and offered. */
  #saved: readonly [Numbers, Numbers] = [
    [0, 0, 0],
    [0, 0, 0],
  ]

  constructor(database: Database) {
    this.#database = database
    this.reload()
  }

  get last(): Readonly<Record<Lane, number>> {
    return byLane(this.#last)
  }

  get offered(): Readonly<Record<Lane, number>> {
    return byLane(this.#offered)
  }

  next(rank: LaneRank): number {
    return this.skip(rank, 1)
  }

  /** Takes so many numbers; returns the last of them. */
  skip(rank: LaneRank, count: number): number {
    this.#last[rank] += count
    return this.#last[rank]
  }

  isOffered(rank: LaneRank, number: number): boolean {
    return number <= this.#offered[rank]
  }

  noteOffered(rank: LaneRank, number: number): void {
    this.#offered[rank] = Math.max(this.#offered[rank], number)
  }

  save(): void {
    const [last, offered] = this.#saved
    for (const lane of lanes) {
      const rank = laneRank[lane]
      if (this.#last[rank] !== last[rank]) writeFact(this.#database, 'number', lane, this.#last[rank])
      if (this.#offered[rank] !== offered[rank]) {
        writeFact(this.#database, 'offered', lane, this.#offered[rank])
      }
    }
  }

  committed(): void {
    this.#saved = [[...this.#last], [...this.#offered]]
  }

  reload(): void {
    for (const [kind, numbers] of [
      ['number', this.#last],
      ['offered', this.#offered],
    ] as const) {
      const saved = readFacts<Lane, number>(this.#database, kind)
      for (const lane of lanes) numbers[laneRank[lane]] = saved.get(lane) ?? 0
    }
    this.committed()
  }
}

function byLane(numbers: Numbers): Record<Lane, number> {
  return {
    urgent: numbers[laneRank.urgent],
    new: numbers[laneRank.new],
    deferred: numbers[laneRank.deferred],
  }
}
