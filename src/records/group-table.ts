import { setImmediate as nextTurn } from 'node:timers/promises'
import type { GroupConfig } from '../config/model.ts'
import { NumberList } from '../lib/number-list.ts'
import type { HashedText, IdTable, TextHash } from './id-table.ts'
import { OpenLinks } from './open-links.ts'
import { PartitionedTable } from './partitioned-table.ts'

/** What one row says about the rows it belongs together with. */
export interface RowLinks {
  /** What other rows may call it. */
  names: readonly string[]
  /** What it calls the row that it belongs to. */
  parent: string | undefined
  /** What it calls the rows that belong to it. */
  members: readonly string[]
  /** It belongs to the row above it, whatever its id. */
  continues?: boolean
}

/** Why a row could not be grouped as it says. */
export type GroupTrouble = 'no-parent' | 'parent-cycle' | 'parent-ambiguous' | 'no-member'

const marks = { last: 1, child: 2, noId: 4, seen: 8 } as const
const troubleMarks: Readonly<Record<GroupTrouble, number>> = {
  'no-parent': 16,
  'parent-cycle': 32,
  'parent-ambiguous': 64,
  'no-member': 128,
}
const noHash: HashedText = [0, 0]
/** Rows looked at between two turns of the event loop: a millisecond or two. */
const rowsPerTurn = 8192

/**
 * Which rows of a file are one product. First rows are added in file order, then `finish` finds out to whom they
 * belong, then it answers. A group is known by the product id of its head, the row that belongs to no other; heads with
 * the same id are one group. As a table of ids it holds those of heads only.
 *
 * About 5 bytes a row and 15 an id; with parents or members 15 bytes a name more, and 24 a row until it is finished.
 */
export class GroupTable implements IdTable {
  readonly #hash: TextHash
  /** The row that stands for the group of each row. While links are being followed: of a child the row it belongs to. */
  readonly #groups = new NumberList((length) => new Uint32Array(length))
  readonly #marks = new NumberList((length) => new Uint8Array(length))
  /** By product id of a head: the row that stands for its group. */
  readonly #heads = new PartitionedTable({ withValues: true })
  #open: OpenLinks | undefined
  #rows = 0
  #withoutId = 0

  constructor(by: GroupConfig['by'], hash: TextHash) {
    this.#hash = hash
    this.#open = by === 'parent' || by === 'members' ? new OpenLinks(by) : undefined
  }

  /** Products, and heads without a readable id, each of which counts as one. */
  get groups(): number {
    return this.#heads.size + this.#withoutId
  }

  get withoutId(): number {
    return this.#withoutId
  }

  get size(): number {
    return this.#heads.size
  }

  /** Rows of one id are one product: none replaces another. */
  get repeated(): number {
    return 0
  }

  isLast(): boolean {
    return true
  }

  has(id: string): boolean {
    return this.hasHash(this.#hash(id))
  }

  hasHash([low, high]: HashedText): boolean {
    return this.#heads.of(high).has(low, high)
  }

  /** See `IdTableBuilder`. */
  mark([low, high]: HashedText): boolean | undefined {
    return this.#heads.of(high).mark(low, high)
  }

  get rows(): number {
    return this.#rows
  }

  groupOf(row: number): number {
    return this.#groups.get(row)
  }

  endsGroup(row: number): boolean {
    return this.#marks.has(row, marks.last)
  }

  isChild(row: number): boolean {
    return this.#marks.has(row, marks.child)
  }

  /** What the row is in its group: the same number, the same part. */
  partOf(row: number): number {
    return this.#marks.get(row) & ~marks.seen
  }

  troubleOf(row: number): GroupTrouble | undefined {
    const mark = this.#marks.get(row)
    if (mark < troubleMarks['no-parent']) return undefined
    return (Object.keys(troubleMarks) as GroupTrouble[]).find((trouble) => mark & troubleMarks[trouble])
  }

  /** Rows in file order, numbered from 1 without a gap. */
  add(row: number, id: string | undefined, links: RowLinks | undefined): void {
    this.#rows = row
    if (links?.continues && row > 1) {
      this.#marks.mark(row, marks.child)
      this.#groups.set(row, this.#groups.get(row - 1))
      return
    }
    const hash = id === undefined ? noHash : this.#hash(id)
    if (id === undefined) this.#marks.mark(row, marks.noId)
    const open = this.#open
    const isHead = !open || !links || (open.by === 'parent' && links.parent === undefined)
    if (isHead) this.#addHead(row, hash)
    else open.addRow(row, hash)
    if (!open || !links) return
    // A row without a parent is what others mean, even when one of them has its name too.
    const goesBefore = (other: number) => isHead && this.#groups.get(other) === 0
    for (const name of links.names) open.addName(row, this.#hash(name), goesBefore)
    if (links.parent !== undefined) open.addLink(row, this.#hash(links.parent))
    for (const member of links.members) open.addLink(row, this.#hash(member))
  }

  /** Gives way to the event loop from time to time. */
  async finish(): Promise<void> {
    if (this.#open) await this.#followLinks(this.#open)
    this.#open = undefined
    // From the end: the first row that is met of a group is its last.
    await inTurns(this.#rows, (index) => {
      const row = this.#rows - index
      const group = this.#groups.get(row)
      if (!this.#marks.has(group, marks.seen)) this.#marks.mark(row, marks.last)
      this.#marks.mark(group, marks.seen)
    })
  }

  async #followLinks(open: OpenLinks): Promise<void> {
    await inTurns(open.links, (index) => this.#tie(open, index))
    await inTurns(open.twins, (index) => this.#tieTwin(open, index))
    await inTurns(open.rows, (index) => {
      const { row, hash } = open.rowAt(index)
      if (!this.isChild(row)) this.#addHead(row, hash)
    })
    await inTurns(open.rows, (index) => this.#findHead(open.rowAt(index).row))
    await inTurns(open.rows, (index) => {
      const { row, hash } = open.rowAt(index)
      if (this.#marks.has(row, troubleMarks['parent-cycle'])) this.#addHead(row, hash)
    })
    await inTurns(open.rows, (index) => {
      const { row } = open.rowAt(index)
      if (this.isChild(row)) this.#groups.set(row, this.#groups.get(this.#groups.get(row)))
    })
    await inTurns(open.links, (index) => this.#doubt(open, index))
  }

  #addHead(row: number, [low, high]: HashedText): void {
    if (this.#marks.has(row, marks.noId)) {
      this.#withoutId += 1
      this.#groups.set(row, row)
      return
    }
    const table = this.#heads.of(high)
    const group = table.get(low, high)
    if (group === undefined) table.put(low, high, row)
    this.#groups.set(row, group ?? row)
  }

  /** Makes the row at one end of a link the child of the row at the other. */
  #tie(open: OpenLinks, index: number): void {
    const { row, named } = open.linkAt(index)
    if (named === undefined) {
      this.#marks.mark(row, troubleMarks[open.by === 'parent' ? 'no-parent' : 'no-member'])
    } else if (open.by === 'parent') this.#makeChild(row, named)
    else this.#makeChild(named, row)
  }

  /** A row that names itself belongs to nobody; of two that list a row the first has it. */
  #makeChild(row: number, parent: number): void {
    if (row === parent) return
    if (this.isChild(row)) {
      if (this.#groups.get(row) !== parent) this.#marks.mark(row, troubleMarks['parent-ambiguous'])
      return
    }
    this.#marks.mark(row, marks.child)
    this.#groups.set(row, parent)
  }

  /** Several rows may describe one member, in several languages for instance. */
  #tieTwin(open: OpenLinks, index: number): void {
    const { row, first } = open.twinAt(index)
    if (this.isChild(first) && !this.isChild(row)) this.#makeChild(row, this.#groups.get(first))
  }

  /** Ties a child, and all between it and its head, to the head. Rows that go round in a ring become heads. */
  #findHead(row: number): void {
    const path: number[] = []
    let at = row
    for (; this.isChild(at) && !this.#marks.has(at, marks.seen); at = this.#groups.get(at)) {
      this.#marks.mark(at, marks.seen)
      path.push(at)
    }
    for (const member of path) this.#marks.clear(member, marks.seen)
    const ring = this.isChild(at) ? path.splice(path.indexOf(at)) : []
    for (const member of ring) {
      this.#marks.clear(member, marks.child)
      this.#marks.mark(member, troubleMarks['parent-cycle'])
    }
    for (const member of path) this.#groups.set(member, at)
  }

  #doubt(open: OpenLinks, index: number): void {
    const { row, named, also } = open.linkAt(index)
    if (named === undefined || also === undefined || this.isChild(named) !== this.isChild(also)) return
    if (this.groupOf(named) !== this.groupOf(also)) this.#marks.mark(row, troubleMarks['parent-ambiguous'])
  }
}

async function inTurns(count: number, step: (index: number) => void): Promise<void> {
  for (let index = 0; index < count; index++) {
    step(index)
    if (index % rowsPerTurn === rowsPerTurn - 1) await nextTurn()
  }
}
