const callsKeptMax = 10_000
/** Ids of older calls are dropped first; enough for the first load of a million products, and once more. */
const idsKeptMax = 2_000_000

/** `open`: not answered yet. `client-gone`: the sender closed the connection first. `reset`: a fault closed it. */
export type CallEnd = 'open' | 'answered' | 'client-gone' | 'reset'

export interface CallRecord {
  /** The `x-request-id` of the answer. */
  readonly id: string
  /** Arrival of the head, in milliseconds since the epoch with fractions. */
  readonly atMs: number
  durationMs: number | undefined
  bytes: number
  products: number
  /** Undefined when they are no longer kept. */
  ids: readonly string[] | undefined
  status: number | undefined
  end: CallEnd
  fault: string | undefined
}

/** The last ten thousand upsert calls, and totals over all of them. */
export class CallLog {
  #calls: CallRecord[] = []
  #idsKept = 0
  /** Calls of `#calls` before this index have lost their ids. */
  #firstWithIds = 0
  #totals = newTotals()

  begin(id: string, atMs: number): CallRecord {
    const call: CallRecord = {
      id,
      atMs,
      durationMs: undefined,
      bytes: 0,
      products: 0,
      ids: [],
      status: undefined,
      end: 'open',
      fault: undefined,
    }
    this.#calls.push(call)
    this.#totals.calls += 1
    if (this.#calls.length >= 2 * callsKeptMax) this.#dropOldest()
    return call
  }

  read(call: CallRecord, bytes: number): void {
    call.bytes = bytes
    this.#totals.bytes += bytes
    this.#totals.largestCallBytes = Math.max(this.#totals.largestCallBytes, bytes)
  }

  holds(call: CallRecord, ids: readonly string[]): void {
    call.products = ids.length
    call.ids = ids
    this.#totals.documentsReceived += ids.length
    this.#idsKept += ids.length
    while (this.#idsKept > idsKeptMax && this.#firstWithIds < this.#calls.length - 1) {
      this.#forgetIds(this.#calls[this.#firstWithIds])
      this.#firstWithIds += 1
    }
  }

  end(call: CallRecord, end: CallEnd, atMs: number): void {
    if (call.end !== 'open') return
    call.end = end
    call.durationMs = atMs - call.atMs
    const key = call.status === undefined ? end : String(call.status)
    this.#totals.callsByStatus.set(key, (this.#totals.callsByStatus.get(key) ?? 0) + 1)
  }

  last(limit: number): readonly CallRecord[] {
    return this.#calls.slice(-Math.min(Math.max(limit, 1), callsKeptMax))
  }

  totals(): Readonly<Totals> {
    return this.#totals
  }

  clear(): void {
    this.#calls = []
    this.#idsKept = 0
    this.#firstWithIds = 0
    this.#totals = newTotals()
  }

  #dropOldest(): void {
    const dropped = this.#calls.splice(0, this.#calls.length - callsKeptMax)
    for (const call of dropped.slice(this.#firstWithIds)) this.#forgetIds(call)
    this.#firstWithIds = Math.max(0, this.#firstWithIds - dropped.length)
  }

  #forgetIds(call: CallRecord | undefined): void {
    if (call?.ids === undefined) return
    this.#idsKept -= call.ids.length
    call.ids = undefined
  }
}

interface Totals {
  calls: number
  callsByStatus: Map<string, number>
  bytes: number
  largestCallBytes: number
  documentsReceived: number
}

function newTotals(): Totals {
  return { calls: 0, callsByStatus: new Map(), bytes: 0, largestCallBytes: 0, documentsReceived: 0 }
}
