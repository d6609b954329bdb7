import type { Lane } from '../catalog/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { Database } from '../lib/database.ts'
import { bufferOf, checkedDocument, damaged } from './digest.ts'
import { newest } from './documents.ts'
import { type LaneRank, lanes } from './lanes.ts'
import type { DocumentDigest } from './model.ts'

const digestBytes = 16

interface NewestDocument {
  document: Buffer
  digest: DocumentDigest
}

/** All bytes one after another: a block of memory for each document costs more than reading it. */
interface Concatenated {
  /** JSON. */
  places: string
  lengths: string
  documents: Uint8Array | null
  digests: Uint8Array | null
}

/** The newest documents; ids without one are absent. */
export function readDocuments(database: Database, ids: readonly ProductId[]): Map<ProductId, NewestDocument> {
  const sql = `SELECT json_group_array(at) AS places, json_group_array(length(document)) AS lengths,
      CAST(group_concat(CAST(document AS TEXT), '') AS BLOB) AS documents,
      CAST(group_concat(CAST(digest AS TEXT), '') AS BLOB) AS digests
    FROM (SELECT t.key AS at, ${newest.document} AS document, ${newest.digest} AS digest
      FROM json_each(?) t CROSS JOIN products p ON p.id = t.value ${newest.joins}
      WHERE ${newest.document} IS NOT NULL OR ${newest.digest} IS NOT NULL)`
  const row = database.get<Concatenated>(sql, idList(ids))
  const found = new Map<ProductId, NewestDocument>()
  if (!row?.documents || !row.digests) {
    if (row?.documents || row?.digests) throw damaged(database.file)
    return found
  }
  const documents = bufferOf(row.documents, database.file)
  const digests = bufferOf(row.digests, database.file)
  const lengths = JSON.parse(row.lengths) as number[]
  let end = 0
  for (const [nth, at] of (JSON.parse(row.places) as number[]).entries()) {
    const document = documents.subarray(end, end + (lengths[nth] ?? 0))
    const digest = digests.subarray(nth * digestBytes, (nth + 1) * digestBytes)
    checkedDocument(document, digest, database.file)
    found.set(ids[at] as ProductId, { document, digest })
    end += document.length
  }
  return found
}

/** For `json_each`: as SQLite stores them. */
export function idList(ids: readonly ProductId[]): string {
  return JSON.stringify(ids.map((id) => id.toWellFormed()))
}

/** Where unsent products wait, and since when, epoch ms; others are absent. */
export function readPlaces(
  database: Database,
  ids: readonly ProductId[],
): Map<ProductId, { lane: Lane; sinceMs: number }> {
  const sql = `SELECT t.key AS at, s.lane, s.since FROM json_each(?) t CROSS JOIN products p ON p.id = t.value
    JOIN sending s ON s.product = p.key WHERE s.lane IS NOT NULL`
  const rows = database.all<{ at: number; lane: LaneRank; since: number }>(sql, idList(ids))
  return new Map(
    rows.map(({ at, lane, since }) => [ids[at] as ProductId, { lane: lanes[lane], sinceMs: since }]),
  )
}
