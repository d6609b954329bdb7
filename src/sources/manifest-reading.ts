import { read } from 'node:fs'
import { promisify } from 'node:util'
import { ZodError } from 'zod'
import { SourceError } from '../lib/errors.ts'
import { readVersion } from '../lib/version.ts'
import type { ManifestIndex } from './manifest-index.ts'
import {
  type AcceptLine,
  type ArchiveLine,
  type DecisionLine,
  decisionHeadSchema,
  decisionSchema,
  fileLineSchema,
  type ManifestLine,
  type OutcomeLine,
} from './model.ts'

const blockBytes = 1024 * 1024

export interface ManifestPosition {
  /** End of the last good line. */
  end: number
  /** Number of the last good line, counted from 1. */
  line: number
}

/**
 * Reads lines into the index from a position to the end of the file, or to the end of a line. What follows the last line feed is torn: a write
 * that never ended. A whole line that is not known throws, the last one, too: it was written by another version, or
 * something else has changed the file, and what it says must not be lost.
 */
export async function readManifestLines(
  source: { fd: number; path: string },
  index: ManifestIndex,
  from: ManifestPosition = { end: 0, line: 0 },
  end = Number.POSITIVE_INFINITY,
): Promise<ManifestPosition> {
  let position = from
  for await (const text of linesFrom(source.fd, from.end, end)) {
    try {
      index.add(parseManifestLine(text.toString('utf8')), position.end, text.length)
      position = { end: position.end + text.length + 1, line: position.line + 1 }
    } catch (cause) {
      throw unknownLine(`${source.path}:${position.line + 1}`, cause)
    }
  }
  return position
}

/** Lines that end with a line feed, without it. */
async function* linesFrom(fd: number, from: number, end: number): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  const block = Buffer.allocUnsafe(blockBytes)
  for (let offset = from; ; ) {
    const { bytesRead } = await promisify(read)(fd, block, 0, Math.min(blockBytes, end - offset), offset)
    if (bytesRead === 0) return
    offset += bytesRead
    const bytes = Buffer.concat([rest, block.subarray(0, bytesRead)])
    let start = 0
    for (let feed = bytes.indexOf(10); feed >= 0; feed = bytes.indexOf(10, start)) {
      yield bytes.subarray(start, feed)
      start = feed + 1
    }
    rest = Buffer.from(bytes.subarray(start))
  }
}

function unknownLine(place: string, cause: unknown): SourceError {
  if (cause instanceof ZodError) {
    return new SourceError(
      'manifest-unknown',
      `${place} is a line that this version of catalogd does not know`,
      {
        hint: `It was probably written by a newer version (this is ${readVersion()}): start that one again. The line is part of the record of every accepted file: do not remove it`,
        cause,
      },
    )
  }
  return new SourceError('manifest-corrupt', `${place} is not a line of a manifest`, {
    hint: 'Restore the file from a backup, or ask for help before changing it: it is the record of every accepted file',
    cause,
  })
}

/** A line as it is handed to the manifest, which numbers it. */
export type NewLine =
  | Omit<AcceptLine, 'sequence'>
  | ArchiveLine
  | OutcomeLine
  // Distributes over the decisions; a plain Omit would merge them.
  | (DecisionLine extends infer Line ? (Line extends DecisionLine ? Omit<Line, 'sequence'> : never) : never)

function parseManifestLine(text: string): ManifestLine {
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'decision') {
    return { ...decisionHeadSchema.parse(value), ...decisionSchema.parse(value) }
  }
  return fileLineSchema.parse(value)
}
