import { read } from 'node:fs'
import { promisify } from 'node:util'
import { ZodError, z } from 'zod'
import type { AcceptSequence, FeedName, ProductId } from '../lib/brand.ts'
import { SourceError } from '../lib/errors.ts'
import { readVersion } from '../lib/version.ts'
import type { ManifestIndex } from './manifest-index.ts'
import type { AcceptLine, ArchiveLine, DecisionLine, ManifestLine, OutcomeLine } from './model.ts'

const blockBytes = 1024 * 1024

export interface ManifestPosition {
  /** End of the last good line. */
  end: number
  /** Number of the last good line, counted from 1. */
  line: number
}

/**
 * Reads lines into the index from a position to the end of the file. What follows the last line feed is torn: a write
 * that never ended. A whole line that is not known throws, the last one, too: it was written by another version, or
 * something else has changed the file, and what it says must not be lost.
 */
export async function readManifestLines(
  source: { fd: number; path: string },
  index: ManifestIndex,
  from: ManifestPosition = { end: 0, line: 0 },
): Promise<ManifestPosition> {
  let position = from
  for await (const text of linesFrom(source.fd, from.end)) {
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

const sequence = z
  .int()
  .positive()
  .transform((value) => value as AcceptSequence)
const feed = z
  .string()
  .min(1)
  .transform((value) => value as FeedName)
const productIds = z.array(
  z
    .string()
    .min(1)
    .transform((value) => value as ProductId),
)

/** Members of every decision, as in the inbox. */
export const decisionSchema = z.discriminatedUnion('decision', [
  z.object({ decision: z.enum(['approve', 'discard']), import: sequence }),
  z.object({
    decision: z.literal('drop-dead'),
    ids: productIds,
    digests: z.array(z.string().regex(/^[0-9a-f]{32}$/)).exactOptional(),
    of: z.literal('consents').exactOptional(),
  }),
  z.object({
    decision: z.literal('retry-dead'),
    ids: productIds,
    of: z.literal('consents').exactOptional(),
  }),
  z.object({
    decision: z.enum(['pause', 'resume']),
    of: z.enum(['products', 'consents']).exactOptional(),
  }),
  z.object({ decision: z.literal('resync'), ids: productIds }),
])

const decisionLine = z.object({
  kind: z.literal('decision'),
  sequence,
  request: z.string().min(1),
  at: z.iso.datetime(),
})

const expectation = z.object({
  md5: z.string().length(32).exactOptional(),
  sha256: z.string().length(64).exactOptional(),
  count: z.int().nonnegative().exactOptional(),
  unreadable: z.enum(['md5', 'sha256', 'count']).exactOptional(),
})

const fileLine = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('accept'),
    sequence,
    claim: z.string().min(1),
    feed,
    mode: z.enum(['full', 'delta']),
    name: z.string().min(1),
    bytes: z.int().nonnegative(),
    asOf: z.iso.datetime(),
    acceptedAt: z.iso.datetime(),
    grownFrom: z.string().min(1).exactOptional(),
    resend: z.literal(true).exactOptional(),
    isDated: z.literal(true).exactOptional(),
    expect: expectation.exactOptional(),
    pushKey: z.string().min(1).exactOptional(),
  }),
  z.object({
    kind: z.literal('archive'),
    claim: z.string().min(1),
    path: z.string().min(1),
    sha256: z.string().length(64),
  }),
  z.object({
    kind: z.literal('outcome'),
    of: sequence,
    outcome: z.enum(['imported', 'held', 'refused', 'late']),
    at: z.iso.datetime(),
    asOf: z.iso.datetime().exactOptional(),
    whole: z.enum(['full', 'delta']).exactOptional(),
  }),
])

function parseManifestLine(text: string): ManifestLine {
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'decision') {
    return { ...decisionLine.parse(value), ...decisionSchema.parse(value) }
  }
  return fileLine.parse(value)
}
