import { deserialize, serialize } from 'node:v8'
import type { ProductId } from '../lib/brand.ts'
import type { MirrorChunk, ProductWrite, StoredProduct } from './model.ts'

/**
 * A chunk on its way between threads, so that neither heap has its parts for long: the bytes of all its products one after
 * another, and everything else.
 */
export interface PackedChunk {
  rest: Buffer<ArrayBuffer>
  bytes: ArrayBuffer
}

/** `document`, `partial` and the digest of the document before by their lengths. */
type PackedWrite = readonly [
  ...[productId: ProductId, document: number | undefined, partial: number | undefined],
  ...[meta: string, lane: ProductWrite['lane'], origins: string | undefined],
  ...[key: number | undefined, digest: number | undefined, keepsRow: boolean],
  others: Pick<ProductWrite, 'incomplete' | 'switchAt' | 'keys' | 'change'> | undefined,
]

interface Rest extends Omit<MirrorChunk, 'writes'> {
  writes: readonly PackedWrite[]
}

/** `stored`: what the chunk was planned from. */
export function packChunk(
  chunk: MirrorChunk,
  stored: ReadonlyMap<ProductId, StoredProduct> = new Map(),
): PackedChunk {
  const lengths = chunk.writes.map(
    ({ productId, document, partial }) =>
      (document?.length ?? 0) + (partial?.length ?? 0) + (stored.get(productId)?.row?.digest?.length ?? 0),
  )
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let end = 0
  const put = (part: Uint8Array | null | undefined) => {
    if (part) bytes.set(part, end)
    end += part?.length ?? 0
    return part?.length
  }
  const writes = chunk.writes.map((write): PackedWrite => {
    const { productId, document, partial, meta, lane, origins, incomplete = null } = write
    const before = stored.get(productId)
    const row = before?.row
    const keepsRow = row?.missing === incomplete && before?.meta === meta
    return [
      ...([productId, put(document), put(partial), meta, lane, origins] as const),
      ...([row?.key, put(row?.digest), keepsRow] as const),
      othersOf(write),
    ]
  })
  return { rest: serialize({ ...chunk, writes } satisfies Rest), bytes: bytes.buffer }
}

function othersOf({ incomplete, switchAt, keys, change }: ProductWrite): PackedWrite[9] {
  if (incomplete === undefined && switchAt === undefined && keys === undefined && change === undefined)
    return undefined
  return { incomplete, change, ...(switchAt === undefined ? {} : { switchAt }), ...(keys && { keys }) }
}

export function unpackChunk({ rest, bytes }: PackedChunk): MirrorChunk {
  const { writes, ...chunk } = deserialize(rest) as Rest
  let end = 0
  const take = (length: number | undefined) => {
    if (length === undefined) return undefined
    end += length
    return Buffer.from(bytes, end - length, length)
  }
  return {
    ...chunk,
    writes: writes.map(([productId, ...packed]) => {
      const [document, partial, meta, lane, origins, key, digest, keepsRow, others] = packed
      const parts = {
        ...{ document: take(document), partial: take(partial), origins },
        before: key === undefined ? undefined : { key, digest: take(digest) ?? null, keepsRow },
      }
      return others
        ? { productId, ...parts, meta, lane, ...others }
        : { productId, ...parts, meta, lane, incomplete: undefined }
    }),
  }
}
