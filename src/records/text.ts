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

/** One of the texts that a file holds: a CSV file with its own header, a JSON or XML document of its own … */
export interface FileText {
  /** What messages call it. */
  name: string
  /** UTF-8 without a byte order mark; each chunk is valid until the next is asked for. Read to the end before the next text. */
  chunks: AsyncIterable<Buffer>
}

/** The texts of a file in order: those of an archive's members, of any other file exactly one. */
export async function* readTexts(
  source: FileSource,
  { compression, encoding }: { compression: Dialect['compression']; encoding: Encoding },
  onRaw?: (chunk: Buffer) => void,
): AsyncGenerator<FileText> {
  const raw = readDecompressed(source, compression)
  yield { name: source.name, chunks: decodeChunks(onRaw ? tap(raw, onRaw) : raw, encoding, source.name) }
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
