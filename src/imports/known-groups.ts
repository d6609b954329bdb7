import { NumberList } from '../lib/number-list.ts'
import type { GroupTable } from '../records/group-table.ts'
import type { BytesHash, HashedText } from '../records/id-table.ts'

/** The digests of products of several rows: of all their rows in file order, and of the part that each plays. */
export class GroupDigests {
  readonly #hash: BytesHash
  /** By row, until it is known which rows belong together; then by the row that stands for the group. */
  #digests = new DigestList()
  #table: GroupTable | undefined

  constructor(hash: BytesHash) {
    this.#hash = hash
  }

  add(row: number, digest: HashedText): void {
    this.#digests.set(row, digest)
  }

  /** Gives the groups in the order of their last rows, in which they are read. */
  *settle(table: GroupTable): Generator<{ group: number; digest: HashedText }> {
    const rows = this.#digests
    const groups = new DigestList()
    const joined = new Uint32Array(5)
    const bytes = Buffer.from(joined.buffer)
    this.#table = table
    this.#digests = groups
    for (let row = 1; row <= table.rows; row++) {
      const group = table.groupOf(row)
      joined.set(groups.get(group))
      joined.set(rows.get(row), 2)
      joined[4] = table.partOf(row)
      const digest = this.#hash(bytes)
      groups.set(group, digest)
      if (table.endsGroup(row)) yield { group, digest }
    }
  }

  groupOf(row: number): number {
    return this.#table?.groupOf(row) ?? row
  }

  /** Of the product that the row is part of. */
  ofProduct(row: number): HashedText {
    return this.#digests.get(this.groupOf(row))
  }
}

class DigestList {
  readonly #low = new NumberList((length) => new Uint32Array(length))
  readonly #high = new NumberList((length) => new Uint32Array(length))

  get(index: number): HashedText {
    return [this.#low.get(index), this.#high.get(index)]
  }

  set(index: number, [low, high]: HashedText): void {
    this.#low.set(index, low)
    this.#high.set(index, high)
  }
}
