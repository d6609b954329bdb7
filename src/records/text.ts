import type { Encoding } from '../config/model.ts'
import { createDecoder, decodeChunks, withoutMark } from './decode.ts'
import { readDecompressed } from './decompress.ts'
import type { Dialect } from './model.ts'
import type { FileSource } from './read-file.ts'

/** How much of the decompressed file detection looks at. */
const sampleBytes = 256 * 2 ** 10

export interface Sample {
  bytes: Buffer
  /** The sample is the whole file. */
  complete: boolean
}

/** The beginning of the decompressed file. */
export async function readSample(source: FileSource, compression: Dialect['compression']): Promise<Sample> {
  const parts: Buffer[] = []
  let length = 0
  for await (const chunk of readDecompressed({ ...source, onProgress: undefined }, compression)) {
    parts.push(Buffer.from(chunk.subarray(0, sampleBytes + 1 - length)))
    length += chunk.length
    if (length > sampleBytes) break
  }
  const bytes = Buffer.concat(parts)
  return { bytes: bytes.subarray(0, sampleBytes), complete: bytes.length <= sampleBytes }
}

/** The whole file as UTF-8 text; each chunk is valid until the next is asked for. */
export function readText(
  source: FileSource,
  { compression, encoding }: { compression: Dialect['compression']; encoding: Encoding },
  onRaw?: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  const raw = readDecompressed(source, compression)
  return decodeChunks(onRaw ? tap(raw, onRaw) : raw, encoding, source.name)
}

async function* tap(chunks: AsyncIterable<Buffer>, look: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    look(chunk)
    yield chunk
  }
}

/** The sample as text; a character that the sample's end cuts off is left out. */
export function decodeSample({ bytes, complete }: Sample, encoding: Encoding, name: string): Buffer {
  const decoder = createDecoder(encoding, name)
  // Copied: decoding may work in place, and a sample may be decoded twice.
  const text = decoder.write(Buffer.from(bytes))
  return withoutMark(complete ? Buffer.concat([text, decoder.end()]) : text)
}
