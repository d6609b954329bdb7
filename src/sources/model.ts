import type { FeedKind, FeedMode, SideKind } from '../config/model.ts'
import type { AcceptSequence, FeedName, ProductId } from '../lib/brand.ts'

/** Unique name of a claimed file; sorts by the time of the claim. */
export type ClaimId = string

/** What side files said of a file when it was claimed: hashes of its bytes in lower-case hexadecimal, its records. */
export interface Expectation {
  md5?: string
  sha256?: string
  count?: number
  /** A side file that says nothing. */
  unreadable?: SideKind
}

/** The file was taken into the archive durably: the moment of truth. */
export interface AcceptLine {
  kind: 'accept'
  sequence: AcceptSequence
  claim: ClaimId
  feed: FeedName
  mode: FeedMode
  /** As it was called in the drop folder, cleaned. */
  name: string
  /** Only so many bytes of the archived file belong to this acceptance. */
  bytes: number
  /** ISO 8601: as of when its content holds. The time of acceptance, unless the name says another one. */
  asOf: string
  /** Whether `asOf` was read from the name. */
  isDated?: true | undefined
  acceptedAt: string
  /** The claim that this file was first accepted as, when it grew afterwards. */
  grownFrom?: ClaimId | undefined
  /** Every product it names is sent again, changed or not. */
  resend?: true | undefined
  /** Checked before anything of the file is applied. */
  expect?: Expectation | undefined
  /** Under which its sender pushed it: a digest of feed and key. The same push, repeated, is accepted once. */
  pushKey?: string | undefined
}

/** After the import: content hash, and where the archive holds the file now (relative to the archive folder). */
export interface ArchiveLine {
  kind: 'archive'
  claim: ClaimId
  path: string
  sha256: string
}

/**
 * `held`: the file, or what it no longer names, waits for the operator. `refused`: nothing of it can be applied.
 * `late`: nothing of it was applied, for the feed's newest full file is newer.
 */
export type ImportOutcome = 'imported' | 'held' | 'refused' | 'late'

/** How an import ended; a file with this line is not imported again unless Redis lost it. */
export interface OutcomeLine {
  kind: 'outcome'
  of: AcceptSequence
  outcome: ImportOutcome
  at: string
  /** ISO 8601, where a column of the file said as of when it holds. */
  asOf?: string
  /** Of a held file of which nothing was applied: what it speaks of, the whole feed (`full`) or a part of it. */
  whole?: FeedMode
}

/** What an operator decided; part of the truth, replayed in order. `request` makes a decision that is asked twice one line. */
export type Decision =
  | { decision: 'approve' | 'discard'; import: AcceptSequence }
  /** `digests` of products: of the refused documents, hexadecimal, in the order of the ids; only these are given up. */
  | { decision: 'drop-dead'; ids: ProductId[]; digests?: string[]; of?: 'consents' }
  | { decision: 'retry-dead'; ids: ProductId[]; of?: 'consents' }
  /** Without `of`: all calls of the catalog. */
  | { decision: 'pause' | 'resume'; of?: FeedKind }
  /** Empty: all products of the catalog. */
  | { decision: 'resync'; ids: ProductId[] }

export type DecisionLine = {
  kind: 'decision'
  sequence: AcceptSequence
  request: string
  at: string
} & Decision

export type ManifestLine = AcceptLine | ArchiveLine | OutcomeLine | DecisionLine
