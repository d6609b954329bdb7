import { hash } from 'node:crypto'
import xxhash from 'xxhash-wasm'
import { PartitionedTable } from './partitioned-table.ts'

export interface IdTable {
  readonly size: number
  /** Ids that more than one record has. */
  readonly repeated: number
  has(id: string): boolean
  /** Of the records with this id only the last one of the file counts. */
  isLast(id: string, record: number): boolean
}

/**
 * Holds 64-bit hashes, not ids: about 13 bytes an id, so that a file of ten million stays within 200 MB. Two ids of
 * such a file share a hash once in 400,000 files. Only ids that repeat have their last record noted.
 */
export class IdTableBuilder implements IdTable {
  readonly #seen = new PartitionedTable({ withValues: false })
  readonly #lastRecords = new PartitionedTable({ withValues: true })
  readonly #hash: TextHash

  private constructor(hash: TextHash) {
    this.#hash = hash
  }

  static async open(): Promise<IdTableBuilder> {
    return new IdTableBuilder(await openTextHash())
  }

  get size(): number {
    return this.#seen.size
  }

  get repeated(): number {
    return this.#lastRecords.size
  }

  /** Records in file order. */
  add(id: string, record: number): void {
    const [low, high] = this.#hash(id)
    if (!this.#seen.of(high).put(low, high)) this.#lastRecords.of(high).put(low, high, record)
  }

  has(id: string): boolean {
    return this.hasHash(this.#hash(id))
  }

  hasHash([low, high]: HashedText): boolean {
    return this.#seen.of(high).has(low, high)
  }

  /** Whether it is marked only now; undefined when it is not there. */
  mark([low, high]: HashedText): boolean | undefined {
    return this.#seen.of(high).mark(low, high)
  }

  isLast(id: string, record: number): boolean {
    const [low, high] = this.#hash(id)
    const last = this.#lastRecords.of(high).get(low, high)
    return last === undefined || last === record
  }
}

/** 64 bits in two halves. */
export type HashedText = readonly [low: number, high: number]

export type TextHash = (text: string) => HashedText

export type BytesHash = ((bytes: Uint8Array) => HashedText) & { seed: bigint }

/** One for all: compiling it takes longer than all else that a small file of prices needs. */
const texts = xxhash()
/** It keeps the memory that its longest text needs. */
const textLengthMax = 2 ** 16

export async function openTextHash(): Promise<TextHash> {
  const { h64 } = await texts
  return halvesOf((text: string) => h64(text.length > textLengthMax ? hash('sha256', text) : text))
}

/** With another seed the same bytes have another hash. */
export async function openBytesHash(seed: string): Promise<BytesHash> {
  const { h64, h64Raw } = await xxhash()
  const number = h64(seed)
  return Object.assign(
    halvesOf((bytes: Uint8Array) => h64Raw(bytes, number)),
    { seed: number },
  )
}

function halvesOf<Input>(digest: (input: Input) => bigint): (input: Input) => HashedText {
  const wide = new BigUint64Array(1)
  const halves = new Uint32Array(wide.buffer)
  return (input) => {
    wide[0] = digest(input)
    return [halves[0] as number, halves[1] as number]
  }
}
