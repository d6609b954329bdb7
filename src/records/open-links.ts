import { NumberList } from '../lib/number-list.ts'
import type { HashedText } from './id-table.ts'
import { PartitionedTable } from './partitioned-table.ts'

/** Fields of one entry in each of the lists. */
const entryLength = 3

/** What rows say of each other while not all of them are known. Texts are held as hashes. */
export class OpenLinks {
  readonly by: 'parent' | 'members'
  /** By name: the first row with it; where rows have parents the first that has none, if there is one. */
  readonly #named = new PartitionedTable({ withValues: true })
  /** By name, of names that several rows have: the last of the others. */
  readonly #alsoNamed = new PartitionedTable({ withValues: true })
  /** A row and the hash of the name that it wants. */
  readonly #links = new NumberList((length) => new Uint32Array(length))
  /** A row that may turn out to be a head, and the hash of its id. */
  readonly #rows = new NumberList((length) => new Uint32Array(length))
  /** A row, and the first with the same name. */
  readonly #twins = new NumberList((length) => new Uint32Array(length))
  #linkCount = 0
  #rowCount = 0
  #twinCount = 0

  constructor(by: 'parent' | 'members') {
    this.by = by
  }

  get links(): number {
    return this.#linkCount
  }

  get rows(): number {
    return this.#rowCount
  }

  get twins(): number {
    return this.#twinCount
  }

  addRow(row: number, [low, high]: HashedText): void {
    addEntry(this.#rows, this.#rowCount++, [row, low, high])
  }

  addLink(row: number, [low, high]: HashedText): void {
    addEntry(this.#links, this.#linkCount++, [row, low, high])
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
    else addEntry(this.#twins, this.#twinCount++, [row, first, 0])
  }

  rowAt(index: number): { row: number; hash: HashedText } {
    const [row, low, high] = entryAt(this.#rows, index)
    return { row, hash: [low, high] }
  }

  /** `named` is the row with the wanted name, undefined when none has it; `also` another one that has it. */
  linkAt(index: number): { row: number; named: number | undefined; also: number | undefined } {
    const [row, low, high] = entryAt(this.#links, index)
    const named = this.#named.of(high).get(low, high)
    return { row, named, also: this.#alsoNamed.of(high).get(low, high) }
  }

  twinAt(index: number): { row: number; first: number } {
    const [row, first] = entryAt(this.#twins, index)
    return { row, first }
  }
}

type Entry = readonly [number, number, number]

function addEntry(list: NumberList, index: number, entry: Entry): void {
  for (let field = 0; field < entryLength; field++) list.set(index * entryLength + field, entry[field] ?? 0)
}

function entryAt(list: NumberList, index: number): Entry {
  const at = index * entryLength
  return [list.get(at), list.get(at + 1), list.get(at + 2)]
}
