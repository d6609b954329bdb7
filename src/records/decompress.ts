import type { FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { systemErrorCode } from '../lib/errors.ts'
import type { Dialect } from './model.ts'
import { type FileSource, openSource, readFileChunks } from './read-file.ts'
import { fileRefusal } from './refusal.ts'

/** When an expanding file is taken for a bomb. */
interface ExpansionLimits {
  /** Decompressed bytes per compressed byte … */
  ratioMax: number
  /** … once this much has come out. */
  fromBytes: number
}

/** Real feeds compress 5 to 30 fold; ten thousand equal rows come near 1000. */
const expansionLimits: ExpansionLimits = { ratioMax: 1000, fromBytes: 64 * 2 ** 20 }

/** Large reads for plain files: 1 MB costs a quarter of what 64 KB chunks do. */
const plainChunkBytes = 2 ** 20
/** Small ones into a decompressor: the ratio is judged by what has been read. */
const compressedChunkBytes = 64 * 2 ** 10
const decompressedChunkBytes = 256 * 2 ** 10

/** By content: what a file is called says nothing reliable. */
export async function detectCompression(source: FileSource): Promise<Dialect['compression']> {
  await using handle = await openSource(source)
  const head = Buffer.alloc(4)
  const { bytesRead } = await handle.read(head, 0, Math.min(4, source.bytes), 0)
  if (bytesRead >= 2 && head[0] === 0x1f && head[1] === 0x8b) return 'gzip'
  if (bytesRead < 4) return 'none'
  const magic = head.readUInt32LE()
  // A zstd file may begin with a skippable frame (sixteen magic numbers).
  return magic === 0xfd2fb528 || (magic & 0xfffffff0) >>> 0 === 0x184d2a50 ? 'zstd' : 'none'
}

/** The decompressed bytes; each chunk is valid until the next is asked for. */
export async function* readDecompressed(
  source: FileSource,
  compression: Dialect['compression'],
  limits: ExpansionLimits = expansionLimits,
): AsyncGenerator<Buffer> {
  await using handle = await openSource(source)
  if (compression === 'none') {
    yield* readFileChunks(handle, source, { offset: 0, chunkBytes: plainChunkBytes, reuse: true })
    return
  }
  let read = 0
  let expanded = 0
  const onProgress = (bytesRead: number) => {
    read = bytesRead
    source.onProgress?.(bytesRead)
  }
  // Node's zstd decompressor ends silently with the first frame and its gunzip at zero padding: whatever is left is
  // a further part, never dropped unseen.
  for (let offset = 0; offset < source.bytes; ) {
    const part = decompressPart(handle, { ...source, onProgress }, compression, offset)
    for (let next = await part.next(); ; next = await part.next()) {
      if (next.done) {
        offset += next.value
        break
      }
      expanded += next.value.length
      if (expanded > limits.fromBytes && expanded > limits.ratioMax * read) throw bomb(source, expanded, read)
      yield next.value
    }
    if (compression === 'gzip' && (await onlyZeros(handle, source, offset))) return
  }
}

/** Yields what the compressed part at `offset` holds, returns how long the part is. */
async function* decompressPart(
  handle: FileHandle,
  source: FileSource,
  compression: 'gzip' | 'zstd',
  offset: number,
): AsyncGenerator<Buffer, number> {
  const settings = { chunkSize: decompressedChunkBytes }
  const decompressor = compression === 'gzip' ? createGunzip(settings) : createZstdDecompress(settings)
  const input = readFileChunks(handle, source, { offset, chunkBytes: compressedChunkBytes, reuse: false })
  let failure: unknown
  const feeding = pipeline(input, decompressor).catch((error: unknown) => {
    failure ??= error
  })
  try {
    for await (const chunk of decompressor) yield chunk as Buffer
    return decompressor.bytesWritten
  } catch (error) {
    await feeding
    throw refusal(source, compression, failure ?? error)
  } finally {
    decompressor.destroy()
    await feeding
  }
}

/** Archives written to tapes or in blocks are padded with zeros. */
async function onlyZeros(handle: FileHandle, source: FileSource, offset: number): Promise<boolean> {
  for await (const chunk of readFileChunks(handle, source, { offset, chunkBytes: 2 ** 16, reuse: true })) {
    if (chunk.some((byte) => byte !== 0)) return false
  }
  return true
}

function refusal(source: FileSource, compression: string, cause: unknown): unknown {
  const code = systemErrorCode(cause) ?? ''
  if (!/^(Z_|ZSTD_)/.test(code)) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  return fileRefusal({
    name: source.name,
    code: 'truncated',
    found:
      code === 'Z_BUF_ERROR'
        ? `the ${compression} data ends before its end mark`
        : `the ${compression} data is damaged (${reason})`,
    hint: 'The file was cut off or changed on its way: transfer it again, in binary mode, and rename it into place when it is complete',
    cause,
  })
}

function bomb(source: FileSource, expanded: number, read: number): Error {
  return fileRefusal({
    name: source.name,
    code: 'expands-too-much',
    found: `${read} compressed bytes have become ${expanded} already`,
    hint: 'No product data compresses that well: check where the file comes from, or drop it uncompressed',
  })
}
