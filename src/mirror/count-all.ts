import type { Database } from '../lib/database.ts'
import { lanes } from './lanes.ts'
import type { MirrorCounts } from './model.ts'

/** Inside a snapshot. */
export function countAll(database: Database): MirrorCounts {
  const count = (sql: string) => database.get<{ count: number }>(sql)?.count ?? 0
  const all = count('SELECT count(*) AS count FROM products')
  const incomplete = count('SELECT count(*) AS count FROM products WHERE missing IS NOT NULL')
  // A dead letter keeps its place while it may be taken back.
  const placed = 'FROM sending WHERE lane IS NOT NULL AND product NOT IN (SELECT product FROM dead)'
  const sql = `SELECT lane, count(*) AS waiting, min(since) AS sinceMs ${placed} AND acknowledged IS NOT digest GROUP BY lane`
  const rows = database.all<{ lane: number; waiting: number; sinceMs: number }>(sql)
  const places = lanes.map((lane, rank) => {
    const { waiting, sinceMs } = rows.find((row) => row.lane === rank) ?? { waiting: 0, sinceMs: undefined }
    return [lane, { waiting, sinceMs }] as const
  })
  return {
    products: all - incomplete,
    incomplete,
    places: Object.fromEntries(places) as MirrorCounts['places'],
    repeats: count(`SELECT count(*) AS count ${placed} AND acknowledged IS digest`),
    dead: count('SELECT count(*) AS count FROM dead'),
  }
}
