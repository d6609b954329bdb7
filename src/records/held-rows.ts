import { deserialize, serialize } from 'node:v8'
import { NumberList } from '../lib/number-list.ts'
import type { ParsedRecord } from './model.ts'
import { packRepeated, unpackRepeated } from './pack-repeated.ts'
import { UnnamedFile } from './unnamed-file.ts'

interface Held {
  rows: ParsedRecord[]
  bytes: number
}

/** Of a block: where the one before it stands (0: none), and how long its rows are. */
const headBytes = 12
/** Read with the head of a block: most blocks are no longer. */
const guessBytes = 4096
const writeBytes = 2 ** 20

/**
 * Rows that wait for the other rows of their product. When they take more than `bytesMax` of memory, all of them go to
 * a file: each group's as one block, which says where the block before it stands.
 */
export class HeldRows implements AsyncDisposable {
  readonly #dir: string
  readonly #bytesMax: number
  /** Made with the first rows that do not fit into memory. */
  #spill: UnnamedFile | undefined
  #spilled = 0
  readonly #groups = new Map<number, Held>()
  /** By group: where its last block begins, plus one. */
  readonly #tails = new NumberList((length) => new Float64Array(length))
  /** By group: how much its blocks take in memory. */
  readonly #spilledBytes = new NumberList((length) => new Float64Array(length))
  #bytes = 0

  constructor({ dir, bytesMax }: { dir: string; bytesMax: number }) {
    this.#dir = dir
    this.#bytesMax = bytesMax
  }

  get spilledBytes(): number {
    return this.#spilled
  }

  /** Answers how much memory the rows of the group would take. Await each call before the next. */
  async add(group: number, row: ParsedRecord): Promise<number> {
    const bytes = sizeOf(row)
    const held = this.#groups.get(group)
    if (held) {
      held.rows.push(row)
      held.bytes += bytes
    } else this.#groups.set(group, { rows: [row], bytes })
    this.#bytes += bytes
    const all = (held?.bytes ?? bytes) + this.#spilledBytes.get(group)
    if (this.#bytes > this.#bytesMax) await this.#writeAll()
    return all
  }

  /** The group's rows in the order in which they were added; they are held no longer. */
  async take(group: number): Promise<ParsedRecord[]> {
    const held = this.#groups.get(group)
    this.#groups.delete(group)
    this.#bytes -= held?.bytes ?? 0
    const parts = [held?.rows ?? []]
    for (let tail = this.#tails.get(group); tail > 0; ) {
      const { previous, rows } = this.#readBlock(tail - 1)
      parts.unshift(rows)
      tail = previous
    }
    if (parts.length > 1) {
      this.#tails.set(group, 0)
      this.#spilledBytes.set(group, 0)
    }
    return parts.length === 1 ? (parts[0] as ParsedRecord[]) : parts.flat()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#groups.clear()
    await this.#spill?.[Symbol.asyncDispose]()
    this.#spill = undefined
  }

  async #writeAll(): Promise<void> {
    let parts: Buffer[] = []
    let bytes = 0
    this.#spill ??= await UnnamedFile.open({ dir: this.#dir, what: 'rows that wait' })
    const spill = this.#spill
    const flush = async () => {
      await spill.append(Buffer.concat(parts))
      this.#spilled += bytes
      parts = []
      bytes = 0
    }
    for (const [group, held] of this.#groups) {
      const rows = serialize(held.rows.map(pack))
      const head = Buffer.alloc(headBytes)
      head.writeDoubleLE(this.#tails.get(group), 0)
      head.writeUInt32LE(rows.length, 8)
      this.#tails.set(group, this.#spilled + bytes + 1)
      this.#spilledBytes.set(group, this.#spilledBytes.get(group) + held.bytes)
      parts.push(head, rows)
      bytes += headBytes + rows.length
      if (bytes >= writeBytes) await flush()
    }
    await flush()
    this.#groups.clear()
    this.#bytes = 0
  }

  #readBlock(offset: number): { previous: number; rows: ParsedRecord[] } {
    const first = this.#read(offset, headBytes + guessBytes)
    const length = first.readUInt32LE(8)
    const bytes =
      length <= guessBytes
        ? first.subarray(headBytes, headBytes + length)
        : this.#read(offset + headBytes, length)
    return { previous: first.readDoubleLE(0), rows: (deserialize(bytes) as ParsedRecord[]).map(unpack) }
  }

  /** Shorter where the file ends before. */
  #read(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(Math.min(length, this.#spilled - offset))
    for (let done = 0; done < bytes.length; ) {
      const read = this.#spill?.read(bytes, done, offset + done)
      if (!read) throw new Error(`the file of rows ends after ${offset + done} of ${this.#spilled} bytes`)
      done += read
    }
    return bytes
  }
}

/** How much memory a value takes, roughly and rather too much. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length + 24
  if (typeof value !== 'object' || value === null) return 8
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + sizeOf(each), 40)
  return Object.values(value).reduce((sum: number, each) => sum + sizeOf(each) + 16, 80)
}

/** Cells of text, as CSV has them, need no packing. */
function pack(row: ParsedRecord): ParsedRecord {
  return typeof row.source === 'object' ? (packRepeated(row) as ParsedRecord) : row
}

function unpack(row: ParsedRecord): ParsedRecord {
  return typeof row.source === 'object' ? (unpackRepeated(row) as ParsedRecord) : row
}
