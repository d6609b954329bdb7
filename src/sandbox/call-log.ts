import { isoTime } from './page-query.ts'

const callsKeptMax = 10_000
/** Ids of older calls are dropped first; enough for the first load of a million products, and once more. */
const idsKeptMax = 2_000_000

/** `open`: not answered yet. `client-gone`: the sender closed the connection first. `reset`: a fault closed it. */
export type CallEnd = 'open' | 'answered' | 'client-gone' | 'reset'

/** What every log holds of a call. */
export interface LoggedCall {
  /** The `x-request-id` of the answer. */
  readonly id: string
  /** Arrival of the head, in milliseconds since the epoch with fractions. */
  readonly atMs: number
  durationMs: number | undefined
  status: number | undefined
  end: CallEnd
  /** Name of the fault that was applied. */
  fault: string | undefined
}

/** The last calls of a group, in the order of their arrival, and how many there were of each status. */
export class GroupLog<Details extends object> {
  protected calls: (LoggedCall & Details)[] = []
  readonly #keptMax: number
  readonly #newDetails: () => Details
  #total = 0
  #byStatus = new Map<string, number>()

  constructor(keptMax: number, newDetails: () => Details) {
    this.#keptMax = keptMax
    this.#newDetails = newDetails
  }

  begin(id: string, atMs: number): LoggedCall & Details {
    const ends = { durationMs: undefined, status: undefined, end: 'open', fault: undefined } as const
    const call: LoggedCall & Details = { id, atMs, ...ends, ...this.#newDetails() }
    this.calls.push(call)
    this.#total += 1
    if (this.calls.length >= 2 * this.#keptMax)
      this.forget(this.calls.splice(0, this.calls.length - this.#keptMax))
    return call
  }

  end(call: LoggedCall, end: CallEnd, atMs: number): void {
    if (call.end !== 'open') return
    call.end = end
    call.durationMs = atMs - call.atMs
    const key = call.status === undefined ? end : String(call.status)
    this.#byStatus.set(key, (this.#byStatus.get(key) ?? 0) + 1)
  }

  get total(): number {
    return this.#total
  }

  summarise() {
    const ended = [...this.#byStatus.values()].reduce((sum, count) => sum + count, 0)
    return { total: this.#total, open: this.#total - ended, byStatus: Object.fromEntries(this.#byStatus) }
  }

  clear(): void {
    this.calls = []
    this.#total = 0
    this.#byStatus = new Map()
  }

  /** They are no longer kept. */
  protected forget(_dropped: readonly (LoggedCall & Details)[]): void {}
}

export function describeLogged({ id, atMs, durationMs, status, end, fault }: LoggedCall, details: object) {
  const ends = { status: status ?? null, end, fault: fault ?? null }
  return { id, at: isoTime(atMs), atMs, durationMs: durationMs ?? null, ...details, ...ends }
}

interface UpsertDetails {
  bytes: number
  products: number
  /** Undefined when they are no longer kept. */
  ids: readonly string[] | undefined
}

export type CallRecord = LoggedCall & UpsertDetails

/** The last ten thousand upsert calls, and totals over all of them. */
export class CallLog extends GroupLog<UpsertDetails> {
  #idsKept = 0
  /** Calls before this index have lost their ids. */
  #firstWithIds = 0
  #totals = newTotals()

  constructor() {
    super(callsKeptMax, () => ({ bytes: 0, products: 0, ids: [] }))
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
    while (this.#idsKept > idsKeptMax && this.#firstWithIds < this.calls.length - 1) {
      this.#forgetIds(this.calls[this.#firstWithIds])
      this.#firstWithIds += 1
    }
  }

  last(limit: number): readonly CallRecord[] {
    return this.calls.slice(-Math.min(Math.max(limit, 1), callsKeptMax))
  }

  totals(): Readonly<Totals> {
    return this.#totals
  }

  override clear(): void {
    super.clear()
    this.#idsKept = 0
    this.#firstWithIds = 0
    this.#totals = newTotals()
  }

  protected override forget(dropped: readonly CallRecord[]): void {
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
  bytes: number
  largestCallBytes: number
  documentsReceived: number
}

function newTotals(): Totals {
  return { bytes: 0, largestCallBytes: 0, documentsReceived: 0 }
}
