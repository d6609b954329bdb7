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

/** Ids of one call resemble each other: a few bytes each are left. */
export function packIds(ids: readonly string[]): Uint8Array<ArrayBuffer> {
  const packed = zstdCompressSync(JSON.stringify(ids))
  // Of its own: it is handed to another thread.
  return new Uint8Array(packed)
}

export function unpackIds(packed: Uint8Array): string[] {
  return JSON.parse(zstdDecompressSync(packed).toString('utf8')) as string[]
}

export function holdsId(packed: Uint8Array, id: string): boolean {
  return zstdDecompressSync(packed).includes(JSON.stringify(id))
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
