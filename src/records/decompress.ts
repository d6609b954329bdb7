import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { FileRefusedError, systemErrorCode } from '../lib/errors.ts'
import { ExpansionMeter } from './expansion-meter.ts'
import { type FileSource, fileRefusal, openSource, readFileChunks, type SourceHandle } from './read-file.ts'

/** How the file as a whole is compressed. */
export type StreamCompression = 'none' | 'gzip' | 'zstd'

/** Large reads for plain files: 1 MB costs a quarter of what 64 KB chunks do. */
const plainChunkBytes = 2 ** 20
/** Small ones into a decompressor: the ratio is judged by what has been read. */
export const compressedChunkBytes = 64 * 2 ** 10
export const decompressedChunkBytes = 256 * 2 ** 10
/** Each part costs a decompressor, whatever it holds: more parts than this must hold so much on average. */
const smallPartsMax = 1000
const smallPartBytes = 1024

/** The decompressed bytes; each chunk is valid until the next is asked for. */
export async function* readDecompressed(
  source: FileSource,
  compression: StreamCompression,
  meter = new ExpansionMeter(source.name),
): AsyncGenerator<Buffer> {
  await using handle = await openSource(source)
  if (compression === 'none') {
    yield* readFileChunks(handle, source, { offset: 0, chunkBytes: plainChunkBytes, reuse: true })
    return
  }
  // Node's zstd decompressor ends silently with the first frame and its gunzip at zero padding: whatever is left is
  // a further part, never dropped unseen.
  let bytes = 0
  for (let offset = 0, parts = 1; offset < source.bytes; parts++) {
    if (parts > smallPartsMax && bytes < parts * smallPartBytes) throw tooManyParts(source)
    const part = decompressPart(handle, source, { compression, offset, meter })
    for (let next = await part.next(); ; next = await part.next()) {
      if (next.done) {
        offset += next.value
        break
      }
      bytes += next.value.length
      yield next.value
    }
    if (compression === 'gzip' && (await onlyZeros(handle, source, offset))) return
  }
}

/**
 * Refuses a bomb before anybody looks at what it holds: decompresses from the beginning for as long as that expands
 * more than any feed does. Of a feed that is the first chunk.
 */
export async function checkExpansion(source: FileSource, compression: StreamCompression): Promise<void> {
  const meter = new ExpansionMeter(source.name)
  for await (const _ of readDecompressed({ ...source, onProgress: undefined }, compression, meter)) {
    if (!meter.isSuspicious) return
  }
}

/** Yields what the compressed part at `offset` holds, returns how long the part is. */
async function* decompressPart(
  handle: SourceHandle,
  source: FileSource,
  options: { compression: 'gzip' | 'zstd'; offset: number; meter: ExpansionMeter },
): AsyncGenerator<Buffer, number> {
  const { compression, offset, meter } = options
  const settings = { chunkSize: decompressedChunkBytes }
  const decompressor = compression === 'gzip' ? createGunzip(settings) : createZstdDecompress(settings)
  const input = readFileChunks(handle, source, { offset, chunkBytes: compressedChunkBytes, reuse: false })
  try {
    yield* decompressed(input, decompressor, { before: offset, meter })
    return decompressor.bytesWritten
  } catch (error) {
    throw error instanceof FileRefusedError ? error : refusal(source, compression, error)
  }
}

/** What comes out of the decompressor. `before`: compressed bytes that the meter has seen, but for these. */
export async function* decompressed(
  input: AsyncIterable<Buffer>,
  decompressor: Transform & { bytesWritten: number },
  { before, meter }: { before: number; meter: ExpansionMeter },
): AsyncGenerator<Buffer> {
  let failure: unknown
  const feeding = pipeline(input, decompressor).catch((error: unknown) => {
    failure ??= error
  })
  try {
    for await (const chunk of decompressor) {
      // What went in, not what was read ahead: a small file is read at once.
      meter.read(before + decompressor.bytesWritten)
      meter.expanded((chunk as Buffer).length)
      yield chunk as Buffer
    }
  } catch (error) {
    await feeding
    throw error instanceof FileRefusedError ? error : (failure ?? error)
  } finally {
    decompressor.destroy()
    await feeding
  }
}

/** Archives written to tapes or in blocks are padded with zeros. */
async function onlyZeros(handle: SourceHandle, source: FileSource, offset: number): Promise<boolean> {
  for await (const chunk of readFileChunks(handle, source, { offset, chunkBytes: 2 ** 16, reuse: true })) {
    if (chunk.some((byte) => byte !== 0)) return false
  }
  return true
}

function tooManyParts({ name }: FileSource): Error {
  return fileRefusal({
    name,
    code: 'too-many-parts',
    found: `it is compressed in more than ${smallPartsMax} parts that hold next to nothing`,
    hint: 'Compress the file as a whole',
  })
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
