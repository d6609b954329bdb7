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
  readonly #bytesMax: number
  readonly #spill: SpillFile
  readonly #groups = new Map<number, Held>()
  /** By group: where its last block begins, plus one. */
  readonly #tails = new NumberList((length) => new Float64Array(length))
  /** By group: how much its blocks take in memory. */
  readonly #spilledBytes = new NumberList((length) => new Float64Array(length))
  #bytes = 0

  constructor({ dir, bytesMax }: { dir: string; bytesMax: number }) {
    this.#spill = new SpillFile(dir)
    this.#bytesMax = bytesMax
  }

  get spilledBytes(): number {
    return this.#spill.size
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
      const { previous, rows } = await this.#readBlock(tail - 1)
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
    await this.#spill[Symbol.asyncDispose]()
  }

  async #writeAll(): Promise<void> {
    let parts: Buffer[] = []
    let bytes = 0
    const flush = async () => {
      await this.#spill.append(Buffer.concat(parts))
      parts = []
      bytes = 0
    }
    for (const [group, held] of this.#groups) {
      const rows = serialize(held.rows.map(pack))
      const head = Buffer.alloc(headBytes)
      head.writeDoubleLE(this.#tails.get(group), 0)
      head.writeUInt32LE(rows.length, 8)
      this.#tails.set(group, this.#spill.size + bytes + 1)
      this.#spilledBytes.set(group, this.#spilledBytes.get(group) + held.bytes)
      parts.push(head, rows)
      bytes += headBytes + rows.length
      if (bytes >= writeBytes) await flush()
    }
    await flush()
    this.#groups.clear()
    this.#bytes = 0
  }

  async #readBlock(offset: number): Promise<{ previous: number; rows: ParsedRecord[] }> {
    const first = await this.#spill.read(offset, headBytes + guessBytes)
    const length = first.readUInt32LE(8)
    const bytes =
      length <= guessBytes
        ? first.subarray(headBytes, headBytes + length)
        : await this.#spill.read(offset + headBytes, length)
    return { previous: first.readDoubleLE(0), rows: (deserialize(bytes) as ParsedRecord[]).map(unpack) }
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

const pageBytes = 2 ** 16
const pagesMax = 64

/** Holds bytes that do not fit into memory. Made with the first of them. */
class SpillFile implements AsyncDisposable {
  readonly #dir: string
  #file: UnnamedFile | undefined
  #size = 0
  /** Read lately, the oldest first: what is written together is often read together. */
  readonly #pages = new Map<number, Buffer>()

  constructor(dir: string) {
    this.#dir = dir
  }

  get size(): number {
    return this.#size
  }

  /** Await each call before the next. Throws a StorageError when the disk does not take it. */
  async append(bytes: Buffer): Promise<void> {
    this.#file ??= await UnnamedFile.open({ dir: this.#dir, what: 'rows that wait' })
    await this.#file.append(bytes)
    this.#size += bytes.length
  }

  /** Shorter where the file ends before. */
  async read(offset: number, length: number): Promise<Buffer> {
    const end = Math.min(offset + length, this.#size)
    const [first, last] = [Math.floor(offset / pageBytes), Math.floor((end - 1) / pageBytes)]
    if (last > first + 1) return this.#readAt(offset, end)
    const parts: Buffer[] = []
    for (let page = first; page <= last; page++) {
      const start = page * pageBytes
      const bytes = this.#pages.get(page) ?? (await this.#readPage(page))
      parts.push(bytes.subarray(Math.max(0, offset - start), end - start))
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.[Symbol.asyncDispose]()
    this.#file = undefined
  }

  async #readPage(page: number): Promise<Buffer> {
    const end = (page + 1) * pageBytes
    const bytes = await this.#readAt(page * pageBytes, Math.min(end, this.#size))
    // One that grows yet would be old soon.
    if (end > this.#size) return bytes
    const [oldest] = this.#pages.keys()
    if (this.#pages.size >= pagesMax && oldest !== undefined) this.#pages.delete(oldest)
    this.#pages.set(page, bytes)
    return bytes
  }

  async #readAt(offset: number, end: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(end - offset)
    for (let done = 0; done < bytes.length; ) {
      const read = await this.#file?.read(bytes, done, offset + done)
      if (!read) throw new Error(`the file of rows ends after ${offset + done} of ${this.#size} bytes`)
      done += read
    }
    return bytes
  }
}
