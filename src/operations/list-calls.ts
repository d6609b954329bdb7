import { type CallFacts, holdsId, type StoredCall, unpackIds } from '../mirror/calls.ts'
import type { MirrorReader } from '../mirror/reader.ts'

/** One call, as people read it: times are ISO 8601. */
export interface CallEntry extends Omit<CallFacts, 'beganMs' | 'endedMs'> {
  number: number
  beganAt: string
  endedAt: string
  durationMs: number
}

export interface CallFilter {
  /** A status, `none` where no response came, or `failed` for all but those that were acknowledged. */
  status?: number | 'none' | 'failed'
  requestId?: string
  productId?: string
  /** Only calls of lower numbers: the `next` of the page before. */
  before?: number
}

export interface CallPage {
  /** Newest first. */
  calls: CallEntry[]
  /** Where the next page begins; null: there are no more. */
  next: number | null
  /** How many were looked through. */
  looked: number
}

interface PageOptions {
  callsMax: number
  /** How many are looked through at most, whatever is found: then `next` says where to go on. */
  lookMax?: number
}

/** The last calls that pass a filter. To look through 1,000 calls of 1,500 products takes about 0.1 s by product, else 10 ms. */
export function listCalls(
  mirror: Pick<MirrorReader, 'settledCalls'>,
  filter: CallFilter,
  { callsMax, lookMax = 2_000 }: PageOptions,
): CallPage {
  const calls: CallEntry[] = []
  let [looked, last] = [0, 0]
  for (const call of mirror.settledCalls(filter.before)) {
    if (calls.length >= callsMax || looked >= lookMax) return { calls, next: last, looked }
    looked += 1
    last = call.number
    if (passes(call, filter)) calls.push(entryOf(call))
  }
  return { calls, next: null, looked }
}

/** One call with the ids of its products; undefined: it is not kept, or no longer. */
export function findCall(
  mirror: Pick<MirrorReader, 'settledCalls'>,
  number: number,
): (CallEntry & { ids: string[] }) | undefined {
  for (const call of mirror.settledCalls(number + 1))
    return call.number === number ? { ...entryOf(call), ids: unpackIds(call.ids) } : undefined
  return undefined
}

function passes(call: StoredCall, { status, requestId, productId }: CallFilter): boolean {
  if (status === 'none' && call.status !== null) return false
  if (status === 'failed' && call.outcome === 'acknowledge') return false
  if (typeof status === 'number' && call.status !== status) return false
  if (requestId !== undefined && call.requestId !== requestId) return false
  return productId === undefined || holdsId(call.ids, productId)
}

export function entryOf({ ids, beganMs, endedMs, ...call }: StoredCall): CallEntry {
  const [beganAt, endedAt] = [new Date(beganMs).toISOString(), new Date(endedMs).toISOString()]
  return { ...call, beganAt, endedAt, durationMs: endedMs - beganMs }
}
