import { read } from 'node:fs'
import { promisify } from 'node:util'
import { SourceError } from '../lib/errors.ts'
import type { ManifestIndex } from './manifest-index.ts'
import { parseManifestLine } from './manifest-lines.ts'

const blockBytes = 1024 * 1024

export interface ManifestPosition {
  /** End of the last good line. */
  end: number
  /** Number of the last good line, counted from 1. */
  line: number
}

/**
 * Reads lines into the index from a position to the end of the file. What follows the last good line is torn: a
 * write that never ended. A bad line with others behind it is no torn write, and throws.
 */
export async function readManifestLines(
  source: { fd: number; path: string },
  index: ManifestIndex,
  from: ManifestPosition = { end: 0, line: 0 },
): Promise<ManifestPosition> {
  let position = from
  let bad: { line: number; cause: unknown } | undefined
  for await (const text of linesFrom(source.fd, from.end)) {
    if (bad) throw corrupt(source.path, bad)
    try {
      index.add(parseManifestLine(text.toString('utf8')), position.end, text.length)
      position = { end: position.end + text.length + 1, line: position.line + 1 }
    } catch (cause) {
      bad = { line: position.line + 1, cause }
    }
  }
  return position
}

/** Lines that end with a line feed, without it. */
async function* linesFrom(fd: number, from: number): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  const block = Buffer.allocUnsafe(blockBytes)
  for (let offset = from; ; ) {
    const { bytesRead } = await promisify(read)(fd, block, 0, blockBytes, offset)
    if (bytesRead === 0) return
    offset += bytesRead
    const bytes = Buffer.concat([rest, block.subarray(0, bytesRead)])
    let start = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      yield bytes.subarray(start, end)
      start = end + 1
    }
    rest = Buffer.from(bytes.subarray(start))
  }
}

function corrupt(path: string, bad: { line: number; cause: unknown }): SourceError {
  return new SourceError('manifest-corrupt', `${path}:${bad.line} is not a line of a manifest`, {
    hint: 'Restore the file from a backup, or ask for help before changing it: it is the record of every accepted file',
    cause: bad.cause,
  })
}
