import { z } from 'zod'
import type { AcceptSequence, FeedName, ProductId } from '../lib/brand.ts'

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
const mode = z.enum(['full', 'delta'])

/** Unique name of a claimed file; sorts by the time of the claim. */
export type ClaimId = z.output<typeof claim>
const claim = z.string().min(1)

/** What side files said of a file when it was claimed: hashes of its bytes in lower-case hexadecimal, its records. */
export type Expectation = z.output<typeof expectation>
const expectation = z.object({
  md5: z.string().length(32).exactOptional(),
  sha256: z.string().length(64).exactOptional(),
  count: z.int().nonnegative().exactOptional(),
  /** A side file that says nothing. */
  unreadable: z.enum(['md5', 'sha256', 'count']).exactOptional(),
})

/** The file was taken into the archive durably: the moment of truth. */
export type AcceptLine = z.output<typeof acceptLine>
const acceptLine = z.object({
  kind: z.literal('accept'),
  sequence,
  claim,
  feed,
  mode,
  /** As it was called in the drop folder, cleaned. */
  name: z.string().min(1),
  /** Only so many bytes of the archived file belong to this acceptance. */
  bytes: z.int().nonnegative(),
  /** As of when its content holds. The time of acceptance, unless the name says another one. */
  asOf: z.iso.datetime(),
  acceptedAt: z.iso.datetime(),
  /** The claim that this file was first accepted as, when it grew afterwards. */
  grownFrom: claim.optional(),
  /** Every product it names is sent again, changed or not. */
  resend: z.literal(true).optional(),
  /** Whether `asOf` was read from the name. */
  isDated: z.literal(true).optional(),
  /** Checked before anything of the file is applied. */
  expect: expectation.optional(),
  /** Under which its sender pushed it: a digest of feed and key. The same push, repeated, is accepted once. */
  pushKey: z.string().min(1).optional(),
})

/** After the import: content hash, and where the archive holds the file now (relative to the archive folder). */
export type ArchiveLine = z.output<typeof archiveLine>
const archiveLine = z.object({
  kind: z.literal('archive'),
  claim,
  path: z.string().min(1),
  sha256: z.string().length(64),
})

/**
 * `held`: the file, or what it no longer names, waits for the operator. `refused`: nothing of it can be applied.
 * `late`: nothing of it was applied, for the feed's newest full file is newer.
 */
export type ImportOutcome = OutcomeLine['outcome']

/** How an import ended; a file with this line is not imported again unless Redis lost it. */
export type OutcomeLine = z.output<typeof outcomeLine>
const outcomeLine = z.object({
  kind: z.literal('outcome'),
  of: sequence,
  outcome: z.enum(['imported', 'held', 'refused', 'late']),
  at: z.iso.datetime(),
  /** Where a column of the file said as of when it holds. */
  asOf: z.iso.datetime().exactOptional(),
  /** Of a held file of which nothing was applied: what it speaks of, the whole feed (`full`) or a part of it. */
  whole: mode.exactOptional(),
})

export const fileLineSchema = z.discriminatedUnion('kind', [acceptLine, archiveLine, outcomeLine])

/** What an operator decided; part of the truth, replayed in order. */
export type Decision = z.output<typeof decisionSchema>
/** Members of every decision, as in the inbox. */
export const decisionSchema = z.discriminatedUnion('decision', [
  z.object({ decision: z.enum(['approve', 'discard']), import: sequence }),
  z.object({
    decision: z.literal('drop-dead'),
    ids: productIds,
    /** Of products: of the refused documents, hexadecimal, in the order of the ids; only these are given up. */
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
    /** Left out: all calls of the catalog. */
    of: z.enum(['products', 'consents']).exactOptional(),
  }),
  /** Without ids: all products of the catalog. */
  z.object({ decision: z.literal('resync'), ids: productIds }),
])

export type DecisionLine = z.output<typeof decisionHeadSchema> & Decision
export const decisionHeadSchema = z.object({
  kind: z.literal('decision'),
  sequence,
  /** Makes a decision that is asked twice one line. */
  request: z.string().min(1),
  at: z.iso.datetime(),
})

export type ManifestLine = AcceptLine | ArchiveLine | OutcomeLine | DecisionLine
