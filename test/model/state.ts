import type { Rules } from './rules.ts'

// All that the model knows. Plain data: a copy of it is a backup, a snapshot, or the state before a power cut.

export const lanes = ['urgent', 'new', 'deferred'] as const
export type Lane = (typeof lanes)[number]
export type Numbers = Record<Lane, number>

export interface Document {
  /** Which installation made it. */
  owner: number
  price: number
  /** `badText`: the endpoint refuses the document. */
  text: number
  /** How it is written; no field depends on it. */
  form: number
  /** Which edit made it. For the oracle alone: values return, versions do not. */
  version: number
}

export const badText = 2

export function digestOf({ owner, price, text, form }: Document): string {
  return `${owner}${price}${text}${form}`
}

/** Same fields, whoever wrote them down. */
export function sameFields(one: Document, other: Document): boolean {
  return one.owner === other.owner && one.price === other.price && one.text === other.text
}

export interface Row {
  document: Document
  digest: string
  /** null: never; '': a doubt. */
  acknowledged: string | null
  /** The place, if any. */
  lane: Lane | null
  /** null in a place: deferred, and not due yet. */
  number: number | null
  since: number
  /** An earlier number of this place may be known to Redis. */
  known: boolean
  /** The digest that was refused. */
  dead: string | null
}

export interface Mirror {
  /** A copy has the same. */
  id: string
  rows: Map<string, Row>
  /** Numbers given. */
  last: Numbers
  /** Places up to here may be known to Redis. */
  offered: Numbers
  generation: string
  /** Generations that were this mirror's before. */
  former: string[]
  inode: number
  beat: number
  runId: number
  /** It was noticed that Redis knows more than this mirror; only the operator ends that. */
  behind: boolean
  /** Next product, in the order in which they were added. */
  startOver: number | null
  /** When its first product was placed: one transaction places many. */
  startOverSince: number
  /** Calls of before the newest start over may take effect until then. */
  callsFrom: number
  /** The operator's last decision about all calls, and when. */
  calls: { paused: boolean; at: number } | undefined
  /** Edits of the archive that are applied. */
  applied: number
}

export interface Guard {
  mirrorId: string
  generation: string
  owner: number
  runId: number
  /** Of the loop that closed it last. */
  session: number
  open: boolean
  /** Until then no call of before a loss is over: no echo is due before, and what is doubtful and offered before is echoed. */
  echoUntil: number
}

export interface BoundProduct {
  token: string
  began: number
  lane: Lane | 'echo'
  score: number
  /** Of the document that was offered; another may be sent. */
  digest: string | undefined
}

export interface Redis {
  runId: number
  guard: Guard | null
  positions: Numbers
  /** What WATCH sees: counts writes of guard and positions. */
  written: number
  beat: number
  documents: Map<string, Document>
  pending: Map<string, string>
  queued: Map<string, { lane: Lane; score: number }>
  /** In which lane a document counts against the limit. */
  counted: Map<string, Lane>
  echoes: Map<string, number>
  requests: Set<string>
  claimed: Map<string, BoundProduct>
  leases: Map<string, number>
  /** A digest and the call's token, '' for a doubt, or '=', a digest and the place: dropped by an offer. */
  acknowledged: Map<string, string>
  /** A digest and which refusal it was. */
  dead: Map<string, string>
  /** Products that were ever refused. */
  refused: number
  /** Refused unnamed since the last acceptance: it is not decided yet whether they stay dead letters. */
  refusals: Map<string, string>
  refusedInARow: { id: string; lane: Lane }[]
  /** When. */
  paused: Map<'operator' | 'refuses-everything', number>
  /** The newest decision to resume that was carried out. */
  resumedAt: number
  /** No call begins before. */
  heldUntil: number
}

/** A request that reached the network. */
export interface Request {
  documents: Map<string, Document>
  began: number
  /** When the process gave it up; undefined while it waits. */
  ended: number | undefined
  /** Which products the endpoint refused, once it has acted on the request. */
  refused: Set<string> | undefined
}

export interface Endpoint {
  products: Map<string, Document>
  /** What may still be applied. */
  requests: Request[]
  refusesAll: boolean
  /** What it ever refused: id and digest. */
  refused: Set<string>
}

export interface Call {
  token: string
  documents: Map<string, Document>
  leaseEnds: number
  request: Request | undefined
}

export interface Process {
  calls: Call[]
}

export interface TakenFields {
  beat: number
  positions: Numbers
  acknowledged: [id: string, value: string, held: boolean][]
  dead: [id: string, digest: string, held: boolean][]
  refused: number
  applied: boolean
}

export interface Offer {
  id: string
  document: Document
  digest: string
  lane: Lane
  kind: 'change' | 'doubt' | 'undone'
  number: number
  since: number
}

export interface Portion {
  written: number
  offers: Offer[]
  /** Up to which the lanes are offered then. */
  positions: Partial<Numbers>
}

/** The thread that writes the mirror; lost with its process. */
export interface Loop {
  runId: number
  /** Another one each time that all is compared. */
  session: number
  state: 'compare' | 'run' | 'repair' | 'start-over' | 'refused'
  refusal: 'copy' | 'foreign' | 'behind' | undefined
  /** Of a repair or of starting over. */
  step: number
  beat: 'none' | 'raised' | 'durable'
  /** What this turn has done already. */
  done: Set<'drain' | 'serve' | Lane>
  drain: TakenFields | undefined
  /** Letters that Redis keeps although the mirror was told, since they may be taken back; refusals by then. */
  told: { letters: number; refused: number }
  pump: Portion | undefined
  /** The last turn did nothing but offer urgent changes. */
  wasUrgent: boolean
  serve: [id: string, document: Document | undefined][] | undefined
}

export interface Edit {
  id: string
  price?: number
  text?: number
  form?: number
}

export interface Installation {
  owner: number
  mirror: Mirror
  /** What a power cut leaves. The same object as `mirror` where each transaction is durable at once. */
  durable: Mirror
  backups: Mirror[]
  inode: number
  /** The run id of an embedded server that was closed cleanly; -1: none. */
  closedRunId: number
  archive: Edit[]
  /** The newest accepted documents. */
  accepted: Map<string, Document>
  loop: Loop
  /** Since its process began, Redis was found to belong to the mirror: calls of the second process carry what stands there. */
  compared: boolean
  processes: Process[]
  endpoint: Endpoint
  /** What the mirror held when a loss was noticed. */
  noticed: Map<string, Document>
  started: boolean
  /** The operator was told that the pause stands. */
  pauseTold: boolean
}

export interface World {
  rules: Rules
  now: number
  redis: Redis
  /** Redis as it was, the newest last. */
  snapshots: Redis[]
  installations: Installation[]
  /** Makes run ids, generations, inodes and tokens. */
  made: number
  violations: string[]
}

/** Ms. So long that a lease is what it is in the real outbox; a command takes one ms, so that no two times are equal. */
export const second = 5_000

/** Times in ms, and counts. All products are of one size. */
export const limits = {
  lease: 3 * second,
  timeout: 5 * second,
  horizon: 10 * second,
  deferredAfter: 4 * second,
  pendingPerLane: 2,
  productsPerCall: 2,
  servedAtOnce: 1,
  refusedInARow: 3,
  snapshots: 24,
} as const

export function numbers(): Numbers {
  return { urgent: 0, new: 0, deferred: 0 }
}

export function installationOf(world: World, owner: number): Installation {
  const found = world.installations[owner]
  if (!found) throw new Error(`no installation ${owner}`)
  return found
}
