import { deserialize, serialize } from 'node:v8'
import type { MirrorChunk, ProductWrite } from './model.ts'

/**
 * A chunk on its way between threads, so that neither heap has its parts for long: the bytes of all its products one after
 * another, and everything else.
 */
export interface PackedChunk {
  rest: Buffer<ArrayBuffer>
  bytes: ArrayBuffer
}

/** `document` and `partial` by their lengths. */
type PackedWrite = readonly [
  ...[productId: ProductWrite['productId'], document: number | undefined, partial: number | undefined],
  ...[meta: string, lane: ProductWrite['lane'], origins: string | undefined],
  others: Pick<ProductWrite, 'incomplete' | 'switchAt' | 'keys' | 'change'> | undefined,
]

interface Rest extends Omit<MirrorChunk, 'writes'> {
  writes: readonly PackedWrite[]
}

export function packChunk(chunk: MirrorChunk): PackedChunk {
  const lengths = chunk.writes.map(
    ({ document, partial }) => (document?.length ?? 0) + (partial?.length ?? 0),
  )
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let end = 0
  const put = (part: Buffer | undefined) => {
    if (part) bytes.set(part, end)
    end += part?.length ?? 0
    return part?.length
  }
  const writes = chunk.writes.map((write): PackedWrite => {
    const { productId, document, partial, meta, lane, origins } = write
    return [productId, put(document), put(partial), meta, lane, origins, othersOf(write)]
  })
  return { rest: serialize({ ...chunk, writes } satisfies Rest), bytes: bytes.buffer }
}

function othersOf({ incomplete, switchAt, keys, change }: ProductWrite): PackedWrite[6] {
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
    writes: writes.map(([productId, document, partial, meta, lane, origins, others]) => {
      const parts = { document: take(document), partial: take(partial), origins }
      return others
        ? { productId, ...parts, meta, lane, ...others }
        : { productId, ...parts, meta, lane, incomplete: undefined }
    }),
  }
}
