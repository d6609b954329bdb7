import type { Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import yauzl from 'yauzl'
import { systemErrorCode } from '../lib/errors.ts'
import { compressedChunkBytes, decompressed, decompressedChunkBytes } from './decompress.ts'
import { type ExpansionLimits, ExpansionMeter } from './expansion-meter.ts'
import { type FileSource, fileRefusal, openSource, readFileChunks, type SourceHandle } from './read-file.ts'
import { checkMember, damagedArchive, membersMax, type ZipMember } from './zip-member.ts'

/** Open file and directory of a zip archive; its members are read by position, in any order, one at a time. */
export interface ZipArchive extends AsyncDisposable {
  /** Those that are files, in the order of their names. */
  members: readonly ZipMember[]
  /** The decompressed bytes, checked against length and checksum; each chunk is valid until the next is asked for. */
  read(member: ZipMember): AsyncGenerator<Buffer>
}

/** Throws FileRefusedError when the directory at the archive's end is absent, damaged or names what no feed needs. */
export async function openZipArchive(source: FileSource, limits?: ExpansionLimits): Promise<ZipArchive> {
  const handle = await openSource(source)
  try {
    const reader = new HandleReader(handle, source)
    const directory = await openDirectory(reader, source)
    const members = await readMembers(directory, source)
    return new OpenArchive({ handle, source, directory, members, limits })
  } catch (error) {
    await handle[Symbol.asyncDispose]()
    throw error
  }
}

class OpenArchive implements ZipArchive {
  readonly members: readonly ZipMember[]
  readonly #handle: SourceHandle
  readonly #source: FileSource
  readonly #directory: yauzl.ZipFile
  readonly #meter: ExpansionMeter
  /** Compressed bytes of the members before the one that is being read. */
  #before = 0

  constructor(options: {
    handle: SourceHandle
    source: FileSource
    directory: yauzl.ZipFile
    members: readonly ZipMember[]
    limits: ExpansionLimits | undefined
  }) {
    this.members = options.members
    this.#handle = options.handle
    this.#source = options.source
    this.#directory = options.directory
    this.#meter = new ExpansionMeter(options.source.name, options.limits)
  }

  async *read(member: ZipMember): AsyncGenerator<Buffer> {
    // What the directory admits to is known before a byte is decompressed; what it does not is counted.
    this.#meter.check(member.bytes, member.compressedBytes)
    const from = await this.#dataStart(member)
    let bytes = 0
    let checksum = 0
    for await (const chunk of this.#decompress(member, from)) {
      bytes += chunk.length
      if (bytes > member.bytes) throw this.#damaged(member, 'is longer than the archive says')
      checksum = crc32(chunk, checksum)
      yield chunk
    }
    if (bytes !== member.bytes)
      throw this.#damaged(member, `has ${bytes} bytes, the archive says ${member.bytes}`)
    if (checksum !== member.crc32)
      throw this.#damaged(member, 'does not have the checksum that the archive says')
    this.#before += member.compressedBytes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#directory.close()
    await this.#handle[Symbol.asyncDispose]()
  }

  async #dataStart(member: ZipMember): Promise<number> {
    try {
      const header = await this.#directory.readLocalFileHeaderPromise(member.entry, { minimal: true })
      const end = header.fileDataStart + member.compressedBytes
      if (end <= this.#source.bytes) return header.fileDataStart
    } catch (cause) {
      throw refusalOf(this.#source, cause)
    }
    throw this.#damaged(member, 'reaches beyond the end of the archive')
  }

  async *#decompress(member: ZipMember, offset: number): AsyncGenerator<Buffer> {
    const part = { ...this.#source, bytes: offset + member.compressedBytes }
    const onProgress = (position: number) => {
      const read = this.#before + position - offset
      this.#source.onProgress?.(Math.min(read, this.#source.bytes))
    }
    const isStored = member.method === 'stored'
    const input = readFileChunks(
      this.#handle,
      { ...part, onProgress },
      { offset, chunkBytes: compressedChunkBytes, reuse: isStored },
    )
    if (isStored) {
      yield* input
      return
    }
    const decompressor = createInflateRaw({ chunkSize: decompressedChunkBytes })
    try {
      yield* decompressed(input, decompressor, { before: this.#before, meter: this.#meter })
    } catch (cause) {
      if (systemErrorCode(cause)?.startsWith('Z_'))
        throw this.#damaged(member, 'is damaged or cut off', cause)
      throw cause
    }
  }

  #damaged({ name }: ZipMember, found: string, cause?: unknown): Error {
    return damagedArchive(this.#source, `its member ${name} ${found}`, cause)
  }
}

/** Reads at positions of the accepted bytes; what was appended since is not there. */
class HandleReader extends yauzl.RandomAccessReader {
  readonly #handle: SourceHandle
  readonly #source: FileSource

  constructor(handle: SourceHandle, source: FileSource) {
    super()
    this.#handle = handle
    this.#source = source
  }

  override _readStreamForRange(): Readable {
    throw new Error('members are read by the archive')
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    if (position + length > this.#source.bytes) {
      setImmediate(callback, new Error('it ends too early'))
      return
    }
    this.#handle.read(buffer, offset, length, position).then(
      ({ bytesRead }) => callback(bytesRead < length ? new Error('it ends too early') : null),
      (error: Error) => callback(error),
    )
  }
}

function openDirectory(reader: yauzl.RandomAccessReader, source: FileSource): Promise<yauzl.ZipFile> {
  // Names are decoded and those that lead out of a folder are refused by the library.
  const options = { lazyEntries: true, autoClose: false, decodeStrings: true, validateEntrySizes: true }
  return yauzl.fromRandomAccessReaderPromise(reader, source.bytes, options).catch((cause: unknown) => {
    throw refusalOf(source, cause)
  })
}

async function readMembers(directory: yauzl.ZipFile, source: FileSource): Promise<ZipMember[]> {
  if (directory.entryCount > membersMax) {
    throw fileRefusal({
      name: source.name,
      code: 'too-many-members',
      found: `the archive has ${directory.entryCount} members, at most ${membersMax} are read`,
      hint: 'Export fewer and larger files, or several archives',
    })
  }
  const members = new Map<string, ZipMember>()
  try {
    for await (const entry of directory.eachEntry()) {
      source.signal?.throwIfAborted()
      if (entry.fileName.endsWith('/')) continue
      const member = checkMember(entry, source)
      if (members.has(member.name)) throw damagedArchive(source, `it has two members named ${member.name}`)
      members.set(member.name, member)
    }
  } catch (cause) {
    throw refusalOf(source, cause)
  }
  const total = [...members.values()].reduce((sum, { compressedBytes }) => sum + compressedBytes, 0)
  if (total > source.bytes) throw damagedArchive(source, 'its members overlap')
  return [...members.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The library's plain errors are about the file's content; errors with a code are not. */
function refusalOf(source: FileSource, cause: unknown): unknown {
  if (!(cause instanceof Error) || systemErrorCode(cause) !== undefined || cause.name === 'AbortError')
    return cause
  const { message } = cause
  if (/^(invalid relative path|absolute path|invalid characters)/.test(message)) {
    return fileRefusal({
      name: source.name,
      code: 'member-name',
      found: `a member's name leads out of the archive (${message})`,
      hint: 'No export makes such a name: check where the file comes from',
      cause,
    })
  }
  if (/signature not found|too early/.test(message)) {
    return fileRefusal({
      name: source.name,
      code: 'truncated',
      found: 'the zip archive ends before its directory does',
      hint: 'The file was cut off: transfer it again, in binary mode, and rename it into place when it is complete',
      cause,
    })
  }
  return damagedArchive(source, message, cause)
}
