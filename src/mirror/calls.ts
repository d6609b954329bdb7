import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Lane } from '../catalog/model.ts'
import type { Database } from '../lib/database.ts'

/** One call, with what was answered. Times are ms since the epoch. */
export interface CallFacts {
  beganMs: number
  endedMs: number
  products: number
  /** From which lanes they came; null: a further call for what an earlier one left. */
  lanes: Readonly<Record<Lane | 'echoed', number>> | null
  /** Of the body. */
  bytes: number
  /** HTTP; null: no response came. */
  status: number | null
  requestId: string | null
  /** What became of it: `acknowledge`, `retry`, `unknown`, `bisect` … */
  outcome: string
  /** Why it failed, in words. */
  description: string | null
  /** Products that the endpoint refused by name. */
  refused: number
  /** Where it was made, if that was not where the mirror is. */
  host?: string
}

export interface MadeCall extends CallFacts {
  ids: readonly string[]
}

/** `ids`: of its products, packed. */
export interface SettledCall extends CallFacts {
  ids: Uint8Array<ArrayBuffer>
}

/** `number`: rises with each call. */
export interface StoredCall extends SettledCall {
  number: number
}

/** One byte of marks an id, and four bits set: two or three of a hundred calls seem to hold an id that they do not. */
const bitsSet = 4
/** No zstd frame begins with it, as blobs do that have no marks. */
const withMarks = 0
/** That, and how many marks there are. */
const headBytes = 5

/**
 * Marks tell of most calls that they do not hold an id (a Bloom filter), which takes a hundredth of unpacking them; ids of
 * one call resemble each other, and a few bytes each are left of them.
 */
export function packIds(ids: readonly string[]): Uint8Array<ArrayBuffer> {
  const packed = zstdCompressSync(JSON.stringify(ids))
  // Of its own: it is handed to another thread.
  const blob = new Uint8Array(headBytes + ids.length + packed.length)
  blob[0] = withMarks
  new DataView(blob.buffer).setUint32(1, ids.length)
  const marks = blob.subarray(headBytes, headBytes + ids.length)
  for (const id of ids) {
    const { hash, step } = hashOf(id)
    for (let nth = 0; nth < bitsSet; nth += 1) {
      const place = ((hash + nth * step) >>> 0) % (marks.length * 8)
      marks[place >>> 3] = (marks[place >>> 3] ?? 0) | (1 << (place & 7))
    }
  }
  blob.set(packed, headBytes + ids.length)
  return blob
}

export function unpackIds(blob: Uint8Array): string[] {
  return JSON.parse(textOf(blob).toString('utf8')) as string[]
}

export function holdsId(blob: Uint8Array, id: string): boolean {
  if (blob[0] !== withMarks) return textOf(blob).includes(JSON.stringify(id))
  const bits = (packedAt(blob) - headBytes) * 8
  const { hash, step } = hashOf(id)
  for (let nth = 0; nth < bitsSet; nth += 1) {
    const place = ((hash + nth * step) >>> 0) % bits
    if (((blob[headBytes + (place >>> 3)] ?? 0) & (1 << (place & 7))) === 0) return false
  }
  return textOf(blob).includes(JSON.stringify(id))
}

function packedAt(blob: Uint8Array): number {
  if (blob[0] !== withMarks) return 0
  return headBytes + new DataView(blob.buffer, blob.byteOffset).getUint32(1)
}

function textOf(blob: Uint8Array): Buffer {
  return zstdDecompressSync(blob.subarray(packedAt(blob)))
}

/** FNV-1a, and how far the bits of the id stand apart. */
function hashOf(id: string): { hash: number; step: number } {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  return { hash, step: Math.imul(hash, 0x9e3779b1) | 1 }
}

/** Inside a transaction; the oldest calls go where all take more than `bytesMax`. */
export function writeCalls(database: Database, calls: readonly SettledCall[], bytesMax: number): void {
  const newest = 'SELECT total FROM calls ORDER BY number DESC LIMIT 1'
  let total = database.get<{ total: number }>(newest)?.total ?? 0
  for (const { beganMs, endedMs, ids, ...call } of calls) {
    const text = JSON.stringify(call)
    total += ids.length + text.length
    const sql = 'INSERT INTO calls (began, ended, call, ids, total) VALUES (?, ?, ?, ?, ?)'
    database.run(sql, beganMs, endedMs, text, ids, total)
  }
  const kept = 'SELECT number FROM calls WHERE total > ? ORDER BY number LIMIT 1'
  database.run(`DELETE FROM calls WHERE number < (${kept})`, total - bytesMax)
}

interface CallRow {
  number: number
  began: number
  ended: number
  call: string
  ids: Uint8Array<ArrayBuffer>
}

/** Of lower numbers, newest first; read as far as it is asked for. */
export function* readSettledCalls(database: Database, below: number): Iterable<StoredCall> {
  const sql =
    'SELECT number, began, ended, call, ids FROM calls WHERE number < ? ORDER BY number DESC LIMIT 100'
  for (let before: number | undefined = below; before !== undefined; ) {
    const page: CallRow[] = database.all<CallRow>(sql, before)
    for (const { number, began, ended, call, ids } of page) {
      const facts = JSON.parse(call) as Omit<CallFacts, 'beganMs' | 'endedMs'>
      yield { number, beganMs: began, endedMs: ended, ...facts, ids }
    }
    before = page.at(-1)?.number
  }
}
