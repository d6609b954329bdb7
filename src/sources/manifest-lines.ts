import { z } from 'zod'
import type { AcceptSequence, FeedName, ProductId } from '../lib/brand.ts'
import type { AcceptLine, ArchiveLine, DecisionLine, ManifestLine, OutcomeLine } from './model.ts'

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

/** Throws what zod throws, or a SyntaxError. */
export function parseManifestLine(text: string): ManifestLine {
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'decision') {
    return { ...decisionLine.parse(value), ...decisionSchema.parse(value) }
  }
  return fileLine.parse(value)
}
