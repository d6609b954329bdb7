import { NumberList } from '../lib/number-list.ts'
import type { HashedText } from './id-table.ts'
import { PartitionedTable } from './partitioned-table.ts'

/** What rows say of each other while not all of them are known. Texts are held as hashes. */
export class OpenLinks {
  readonly by: 'parent' | 'members'
  /** By name: the first row with it; where rows have parents the first that has none, if there is one. */
  readonly #named = new PartitionedTable({ withValues: true })
  /** By name, of names that several rows have: the last of the others. */
  readonly #alsoNamed = new PartitionedTable({ withValues: true })
  /** A row and the hash of the name that it wants. */
  readonly #links = new EntryList()
  /** A row that may turn out to be a head, and the hash of its id. */
  readonly #rows = new EntryList()
  /** A row, and the first with the same name. */
  readonly #twins = new EntryList()

  constructor(by: 'parent' | 'members') {
    this.by = by
  }

  get links(): number {
    return this.#links.length
  }

  get rows(): number {
    return this.#rows.length
  }

  get twins(): number {
    return this.#twins.length
  }

  addRow(row: number, [low, high]: HashedText): void {
    this.#rows.add(row, low, high)
  }

  addLink(row: number, [low, high]: HashedText): void {
    this.#links.add(row, low, high)
  }

  /** `goesBefore` says whether the row is a better owner of the name than the one that has it. */
  addName(row: number, [low, high]: HashedText, goesBefore: (other: number) => boolean): void {
    const table = this.#named.of(high)
    const first = table.get(low, high)
    if (first === row) return
    if (first === undefined || goesBefore(first)) {
      table.put(low, high, row)
      return
    }
    if (this.by === 'parent') this.#alsoNamed.of(high).put(low, high, row)
    else this.#twins.add(row, first, 0)
  }

  rowAt(index: number): { row: number; hash: HashedText } {
    const [row, low, high] = this.#rows.at(index)
    return { row, hash: [low, high] }
  }

  /** `named` is the row with the wanted name, undefined when none has it; `also` another one that has it. */
  linkAt(index: number): { row: number; named: number | undefined; also: number | undefined } {
    const [row, low, high] = this.#links.at(index)
    const named = this.#named.of(high).get(low, high)
    return { row, named, also: this.#alsoNamed.of(high).get(low, high) }
  }

  twinAt(index: number): { row: number; first: number } {
    const [row, first] = this.#twins.at(index)
    return { row, first }
  }
}

/** Three numbers an entry. */
class EntryList {
  readonly #numbers = new NumberList((length) => new Uint32Array(length))
  length = 0

  add(first: number, second: number, third: number): void {
    const at = 3 * this.length++
    this.#numbers.set(at, first)
    this.#numbers.set(at + 1, second)
    this.#numbers.set(at + 2, third)
  }

  at(index: number): [number, number, number] {
    const at = 3 * index
    return [this.#numbers.get(at), this.#numbers.get(at + 1), this.#numbers.get(at + 2)]
  }
}
