import { HashTable } from './hash-table.ts'

const partitionBits = 6

/**
 * Hash tables that share the hashes by their uppermost bits and grow one at a time: growing takes a few milliseconds,
 * not half a second at ten million entries, and never holds all entries twice.
 */
export class PartitionedTable {
  readonly #tables: readonly HashTable[]

  constructor(options: { withValues: boolean }) {
    this.#tables = Array.from({ length: 2 ** partitionBits }, () => new HashTable(options))
  }

  get size(): number {
    return this.#tables.reduce((size, table) => size + table.size, 0)
  }

  of(high: number): HashTable {
    return this.#tables[high >>> (32 - partitionBits)] as HashTable
  }
}
