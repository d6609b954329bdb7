import { closeSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { FileRefusedError, SourceError, systemErrorCode } from '../lib/errors.ts'

/** The part of an archived file that belongs to one acceptance. */
export interface FileSource {
  path: string
  /** The file may have grown since it was accepted: nothing beyond is read. */
  bytes: number
  /** What messages call the file. */
  name: string
  /** Told after every read how many bytes of the file have been read. */
  onProgress?: ((bytesRead: number) => void) | undefined
  signal?: AbortSignal | undefined
  /** Where that goes which does not fit into memory. Default: the system's folder for temporary files. */
  spillDir?: string | undefined
  /** All of it, in place of the file at `path` (`holdSmall`). */
  held?: Buffer | undefined
}

/** Reads by place. */
export interface SourceHandle extends AsyncDisposable {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
}

export async function openSource({ path, held }: FileSource): Promise<SourceHandle> {
  if (held) return handleOf(held)
  try {
    return await open(path, 'r')
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

const heldBytesMax = 64 * 2 ** 10

/**
 * A small file is read once, here and now: the passes over it open it four times, and each step of that, done by another
 * thread, takes longer than reading it.
 */
export function holdSmall<Source extends FileSource>(source: Source): Source {
  if (source.bytes > heldBytesMax) return source
  const held = Buffer.alloc(source.bytes)
  let file: number
  try {
    file = openSync(source.path, 'r')
  } catch (cause) {
    throw unreadable(source.path, cause)
  }
  try {
    // One that is shorter than it was is told where it ends, as others are.
    return readSync(file, held) < held.length ? source : { ...source, held }
  } finally {
    closeSync(file)
  }
}

function handleOf(held: Buffer): SourceHandle {
  return {
    read: async (buffer, offset, length, position) => {
      return { bytesRead: held.copy(buffer, offset, position, position + length) }
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function unreadable(path: string, cause: unknown): SourceError {
  return new SourceError('file-unreadable', `cannot open ${path} (${systemErrorCode(cause) ?? cause})`, {
    hint: 'Check that the file exists and that the user of this process may read it',
    cause,
  })
}

/**
 * Yields the file from `offset` on. With `reuse` all chunks share one buffer, and each is valid until the next is asked
 * for; without it every chunk has its own, for consumers that queue them.
 */
export async function* readFileChunks(
  handle: SourceHandle,
  source: FileSource,
  { offset, chunkBytes, reuse }: { offset: number; chunkBytes: number; reuse: boolean },
): AsyncGenerator<Buffer> {
  const size = Math.max(1, Math.min(chunkBytes, source.bytes - offset))
  let buffer = Buffer.allocUnsafeSlow(size)
  for (let position = offset; position < source.bytes; ) {
    source.signal?.throwIfAborted()
    const length = Math.min(size, source.bytes - position)
    const { bytesRead } = await handle.read(buffer, 0, length, position)
    if (bytesRead === 0) throw shorterThanAccepted(source, position)
    position += bytesRead
    source.onProgress?.(position)
    yield buffer.subarray(0, bytesRead)
    if (!reuse) buffer = Buffer.allocUnsafeSlow(size)
  }
}

function shorterThanAccepted(source: FileSource, found: number): Error {
  return fileRefusal({
    name: source.name,
    code: 'truncated',
    found: `the file ends after ${found} bytes, it had ${source.bytes} when it was accepted`,
    hint: 'Export the file again and drop it under a new name',
  })
}

/** Builds the error for a file that is refused whole; every message begins with the file's name. */
export function fileRefusal(options: {
  name: string
  code: string
  found: string
  hint: string
  cause?: unknown
}): FileRefusedError {
  const { name, code, found, hint, cause } = options
  return new FileRefusedError(code, `${name}: ${found}`, { hint, cause })
}

const pathsShown = 8

/** The document is sound, but its records are not at the path, or nowhere to be seen. `seen` lists where they may be. */
export function noRecordsRefusal(
  name: string,
  path: string | undefined,
  seen: readonly string[] = [],
): Error {
  const shown = seen.slice(0, pathsShown).map((found) => (found === '' ? '"" (the root)' : found))
  const more = seen.length > pathsShown ? ` and ${seen.length - pathsShown} more` : ''
  const where =
    path === undefined
      ? 'nothing in it looks like a list of records'
      : `there are no records at ${path === '' ? 'the root' : path}`
  return fileRefusal({
    name,
    code: 'path-not-found',
    found: seen.length === 0 ? where : `${where}; found ${shown.join(', ')}${more}`,
    hint: 'Set format.path: for JSON the keys that lead to the array of records (data.products, or "" for the root) or to the object that holds them (data.products.*), for XML the elements from the root to the record (rss/channel/item)',
  })
}
