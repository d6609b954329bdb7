import type { Encoding } from '../config/format-model.ts'
import { DamagePlaces } from './damage-places.ts'
import { createDecoder, type Decoding, decodeChunks, withoutMark } from './decode.ts'
import { readDecompressed } from './decompress.ts'
import { checkNested, isSpreadsheet, readPackedSheets } from './detect-compression.ts'
import { markedEncoding, type Sample } from './detect-encoding.ts'
import type { Dialect, FileText } from './model.ts'
import type { FileSource } from './read-file.ts'
import { readSheet } from './xlsx-sheet.ts'
import { openZipArchive } from './zip-archive.ts'
import { pickMembers } from './zip-member.ts'

/** How much of the decompressed file detection looks at. */
const sampleBytes = 256 * 2 ** 10
/** Enough for every byte order mark, for the first bytes of other containers and the name of a first member. */
const headBytes = 64

/** What a place in a text is counted in. */
const wholes: Partial<Record<Dialect['compression'], string>> = {
  none: 'the file',
  zip: 'the member of the archive',
}

/** What decides which bytes of a file are read, and as what. */
export type Container = Pick<Dialect, 'compression' | 'packing' | 'members' | 'sheet'>

/**
 * What the file is packed in. `compression` is that of the file; a spreadsheet inside is looked for in what it holds
 * first.
 */
export async function findContainer(
  source: FileSource,
  container: Pick<Container, 'members' | 'sheet'> & { compression: Dialect['compression'] },
): Promise<Container> {
  const { compression } = container
  if (compression === 'none' || compression === 'xlsx') return container
  const quiet = { ...source, onProgress: undefined }
  for await (const { chunks } of readPacked(quiet, { ...container, compression })) {
    let head: Buffer | undefined
    for await (const _ of withHead(chunks, (seen) => (head = seen))) break
    if (head === undefined) continue
    return isSpreadsheet(head) ? { ...container, compression: 'xlsx', packing: compression } : container
  }
  return container
}

/** The beginning of the decompressed file; of an archive, of its first member that is not empty. */
export async function readSample(source: FileSource, container: Container): Promise<Sample> {
  const quiet = { ...source, onProgress: undefined }
  let sample: Sample = { bytes: Buffer.alloc(0), complete: true }
  for await (const { chunks } of readBytes(quiet, container)) {
    sample = await takeSample(chunks)
    if (sample.bytes.length > 0) break
  }
  return sample
}

async function takeSample(chunks: AsyncIterable<Buffer>): Promise<Sample> {
  const parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    parts.push(Buffer.from(chunk.subarray(0, sampleBytes + 1 - length)))
    length += chunk.length
    if (length > sampleBytes) break
  }
  const bytes = Buffer.concat(parts)
  return { bytes: bytes.subarray(0, sampleBytes), complete: bytes.length <= sampleBytes }
}

/**
 * The texts of a file in order: those of an archive's members, of any other file exactly one. A member may have a byte
 * order mark of its own. `onRaw` sees the bytes before they are decoded, but for members that have such a mark.
 */
export async function* readTexts(
  source: FileSource,
  dialect: Container & { encoding: Encoding },
  onRaw?: (chunk: Buffer) => void,
): AsyncGenerator<FileText> {
  const { compression, encoding } = dialect
  for await (const { name, chunks } of readBytes(source, dialect)) {
    const places = new DamagePlaces(wholes[compression] ?? 'the decompressed file')
    const decoding = { encoding, name, places }
    yield {
      name,
      places,
      chunks:
        compression === 'zip'
          ? decodeMember(chunks, decoding, onRaw)
          : decodeChunks(onRaw ? tap(chunks, onRaw) : chunks, decoding),
    }
  }
}

async function* readBytes(
  source: FileSource,
  { compression, packing, members, sheet }: Container,
): AsyncGenerator<FileText> {
  const { name } = source
  if (compression === 'none') yield { name, chunks: readDecompressed(source, compression) }
  else if (compression === 'xlsx') {
    if (packing === undefined) yield { name, chunks: readSheet(source, sheet) }
    else yield* readPackedSheets(readPacked(source, { compression: packing, members }), source, sheet)
  } else {
    for await (const { name: inner, chunks } of readPacked(source, { compression, members }))
      yield { name: inner, chunks: withHead(chunks, (head) => checkNested(head, inner)) }
  }
}

/** What is inside, whatever that is. */
async function* readPacked(
  source: FileSource,
  { compression, members }: { compression: NonNullable<Container['packing']>; members?: string | undefined },
): AsyncGenerator<FileText> {
  const { name: file } = source
  if (compression !== 'zip') {
    yield { name: file, chunks: readDecompressed(source, compression) }
    return
  }
  await using archive = await openZipArchive(source)
  for (const member of pickMembers(archive.members, members, file))
    yield { name: `${file} (${member.name})`, chunks: archive.read(member) }
}

async function* decodeMember(
  chunks: AsyncIterable<Buffer>,
  decoding: Decoding,
  onRaw: ((chunk: Buffer) => void) | undefined,
): AsyncGenerator<Buffer> {
  let own: Encoding | undefined
  const raw = withHead(chunks, (head) => {
    own = markedEncoding(head)
  })
  // The head is seen before the decoder is made: the first chunk is asked for here.
  const first = await raw.next()
  if (first.done) return
  async function* all(): AsyncGenerator<Buffer> {
    yield first.value
    yield* raw
  }
  // What a member says of itself is no evidence about the others.
  const encoding = own ?? decoding.encoding
  yield* decodeChunks(onRaw && own === undefined ? tap(all(), onRaw) : all(), { ...decoding, encoding })
}

/** Shows the first bytes, at least four where there are so many, before the first chunk is passed on. */
async function* withHead(
  chunks: AsyncIterable<Buffer>,
  look: (head: Buffer) => void,
): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (head === undefined) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    if (head.length < headBytes) continue
    look(head)
    const whole = head
    head = undefined
    yield whole
  }
  if (head === undefined || head.length === 0) return
  look(head)
  yield head
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
